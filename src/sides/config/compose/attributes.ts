// Converts operator.attributes and operator.suppression to options of createOperator.

import { messageOf } from '../../../base/runtime/message-of.ts'
import type { AttributeSource } from '../../../subjects/attributes/attribute-source.ts'
import { combine } from '../../../subjects/attributes/combine.ts'
import { fileSource } from '../../../subjects/attributes/file.ts'
import { httpSource } from '../../../subjects/attributes/http.ts'
import { sqlSource } from '../../../subjects/attributes/sql.ts'
import type { OperatorOptions } from '../../operator/options.ts'
import { loadSource } from '../module.ts'
import type { OperatorConfig } from '../table.ts'
import { addressOptions } from './services/address.ts'
import { refuse, refuseFile } from './services/files.ts'
import { suppressionOptions } from './suppression.ts'

export async function attributeOptions(
  config: OperatorConfig,
): Promise<Pick<OperatorOptions, 'attributes' | 'suppression'>> {
  const attributes = await createSources(config)
  return {
    ...(attributes && { attributes }),
    ...(await suppressionOptions(config.suppression, 'operator.suppression')),
  }
}

async function createSources({ attributes, keys }: OperatorConfig): Promise<AttributeSource | undefined> {
  if (attributes.length === 0) return undefined
  const all = [...new Set(keys.flatMap((key) => key.brands))]
  const parts = await Promise.all(
    attributes.map(async (settings, i) => ({
      source: await createSource(settings, `operator.attributes[${i}]`),
      brands: settings.brands ?? all,
    })),
  )
  try {
    return combine(parts)
  } catch (error) {
    return refuse('operator.attributes', messageOf(error))
  }
}

async function createSource(settings: OperatorConfig['attributes'][number], path: string): Promise<AttributeSource> {
  switch (settings.is) {
    case 'file':
      return fileSource(settings.file, settings.brand === undefined ? {} : { brand: settings.brand }).catch(
        (error: NodeJS.ErrnoException) =>
          error.code === undefined
            ? refuse(`${path}.file`, error.message)
            : refuseFile(settings.file, error, `${path}.file`, 'write the path of a CSV or NDJSON file of users'),
      )
    case 'sql':
      return sqlSource(settings)
    case 'http':
      return httpSource({ url: settings.url, fields: settings.fields, ...(await addressOptions(settings, path)) })
    case 'module':
      return loadSource(settings.module, settings.name, `${path}.module`)
  }
}
