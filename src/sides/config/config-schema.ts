// The configuration file as a JSON Schema, for editors: completion, help and unknown names. `bellwire config --check` checks values.

import type { Setting, Settings } from '../../base/runtime/setting.ts'
import { table } from './table.ts'

type Schema = Readonly<Record<string, unknown>>

/** Draft 2020-12. Nothing is required, because each setting may come from the environment. */
export function configSchema(): Schema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Configuration of Bellwire',
    ...schemaOf(table),
  }
}

function schemaOf(setting: Setting): Schema {
  const about = 'help' in setting && setting.help !== '' ? { description: setting.help } : {}
  switch (setting.type) {
    case 'leaf':
      return {
        ...about,
        ...(setting.default !== undefined && { default: setting.default }),
        anyOf: [setting.words ? { enum: setting.words } : { type: ['string', 'number', 'boolean', 'null'] }, variable],
      }
    case 'json':
      return about
    case 'list': {
      const items = { type: ['array', 'null'], items: schemaOf(setting.of) }
      return setting.allowSingle ? { ...about, anyOf: [items, schemaOf(setting.of)] } : { ...about, ...items }
    }
    case 'group':
      return { ...about, ...objectOf(setting.settings) }
    case 'variants': {
      const variants = Object.entries(setting.variants)
      const words = { enum: variants.map(([name]) => name) }
      return { ...about, anyOf: [words, variable, ...variants.map(([name, settings]) => variantOf(name, settings))] }
    }
  }
}

/** A text with a value from the environment or from a file. */
const variable: Schema = { type: 'string', pattern: '\\$\\{' }

const objectOf = (settings: Settings, more: Readonly<Record<string, Schema>> = {}): Schema => ({
  type: ['object', 'null'],
  properties: {
    ...more,
    ...Object.fromEntries(Object.entries(settings).map(([name, setting]) => [name, schemaOf(setting)])),
  },
  additionalProperties: false,
})

/** A variant is named by `provider`, or by a setting with its name. */
const variantOf = (name: string, settings: Settings): Schema => ({
  ...objectOf(settings, { provider: { const: name } }),
  type: 'object',
  anyOf: ['provider', ...(Object.hasOwn(settings, name) ? [name] : [])].map((required) => ({ required: [required] })),
})
