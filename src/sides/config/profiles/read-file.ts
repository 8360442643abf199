import { open } from 'node:fs/promises'
import { type IntegrationProfile, mostProfileBytes, readProfile } from '../../../contract/integration-profile.ts'

/** @returns the profile in the file, or a sentence that says why it cannot be used */
export async function readProfileFile(file: string): Promise<IntegrationProfile | string> {
  try {
    const text = await readBeginning(file, mostProfileBytes + 1)
    if (text.length > mostProfileBytes) return `it is larger than ${mostProfileBytes / 1024} KiB`
    return readProfile(text.toString('utf8'))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return code === 'ENOENT' ? 'it does not exist' : `it cannot be read: ${message}`
  }
}

async function readBeginning(file: string, bytes: number): Promise<Buffer> {
  const handle = await open(file)
  try {
    const { bytesRead, buffer } = await handle.read({ buffer: Buffer.alloc(bytes) })
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}
