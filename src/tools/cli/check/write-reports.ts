// The formats of a report, by the extension of its file.

import { constants } from 'node:fs'
import { access, readFile, writeFile } from 'node:fs/promises'
import { dirname, extname } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import type { Report } from '../../checker/report-schema.ts'
import type { Comparison } from '../../checker/reports/compare.ts'
import { htmlReport } from '../../checker/reports/html.ts'
import { junitReport } from '../../checker/reports/junit.ts'
import { textReport } from '../../checker/reports/text.ts'
import { CliError, exit, refuseWith } from '../exit.ts'

const formats: Readonly<Record<string, (report: Report, comparison?: Comparison) => string>> = {
  '.html': htmlReport,
  '.json': (report) => `${JSON.stringify(report, null, 2)}\n`,
  '.xml': (report) => junitReport(report),
  '.txt': (report, comparison) => `${stripVTControlCharacters(textReport(report, comparison))}\n`,
}

/** Checked before the run, so that no result is lost. @throws CliError for an unknown extension, or a folder without write access */
export async function checkReportFiles(files: readonly string[]): Promise<void> {
  const wrong = files.find((file) => !Object.hasOwn(formats, extname(file)))
  if (wrong !== undefined)
    throw new CliError(
      exit.usage,
      `--report ${wrong}: the extension chooses the format: .html, .json, .xml (JUnit) or .txt`,
    )
  for (const file of files)
    await access(dirname(file), constants.W_OK).catch(refuseWith(`--report ${file} cannot be written`))
}

export async function writeReports(
  files: readonly string[],
  report: Report,
  comparison: Comparison | undefined,
): Promise<void> {
  for (const file of files) {
    const text = formats[extname(file)]?.(report, comparison) ?? ''
    await writeFile(file, text, { mode: 0o600 }).catch(refuseWith(`--report ${file} cannot be written`))
  }
}

/** Reads an earlier JSON report. @throws CliError if it is none */
export async function readReport(file: string): Promise<Report> {
  const text = await readFile(file, 'utf8').catch(refuseWith('--compare cannot be read'))
  try {
    const report = JSON.parse(text) as Report
    if (report.format === 'bellwire-check-report/1') return report
  } catch {
    // Reported below.
  }
  throw new CliError(
    exit.usage,
    `--compare ${file} is not a JSON report of bellwire check: write one with --report NAME.json`,
  )
}
