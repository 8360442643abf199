// kubernetes-validate, which has the schemas of Kubernetes, from its Python package.

import { install, installing } from './apt.ts'
import { cached } from './cache.ts'
import { isDebian, isRoot, run } from './program.ts'
import type { Service } from './service.ts'

const version = '1.37.0'

/** The address of the service is the folder of its modules. */
export const kubernetesValidateService: Service<object> = {
  name: 'kubernetes-validate',
  variable: 'BELLWIRE_TEST_KUBERNETES_VALIDATE',
  proves: 'the Kubernetes manifests',
  command: `sudo sh -c '${installing('python3-pip')}', on a machine that can reach the Python registry`,
  start: async () => ({
    address: await cached(`kubernetes-validate-${version}`, async (folder) => {
      const pip = ['-m', 'pip', 'install', '--quiet', '--target', folder, `kubernetes-validate==${version}`]
      await run('python3', ['-m', 'pip', '--version']).catch(async (error: unknown) => {
        if (!isDebian() || !isRoot()) throw error
        await install('python3-pip')
      })
      await run('python3', pip)
    }),
    stop: async () => {},
  }),
}

/** Rejects with the places that the schemas of this version of Kubernetes do not allow. */
export const validateManifests = (folder: string, kubernetes: string, file: string): Promise<string> =>
  run('python3', ['-m', 'kubernetes_validate', '--strict', '-k', kubernetes, file], {
    env: { ...process.env, PYTHONPATH: folder },
  })
