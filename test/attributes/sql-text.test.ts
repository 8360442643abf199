import assert from 'node:assert/strict'
import test from 'node:test'
import { bindBrand, namesBrand } from '../../src/subjects/attributes/sql-text.ts'

test('the brand replaces :brand, except in string literals, quoted names, comments and casts', () => {
  const query = `select ':brand', "a:brand", x::brand, y -- :brand
    /* :brand */ from t where b = :brand and c = :brands and ':brand''s' <> :brand`
  assert.equal(bindBrand(query, '7'), query.replace('b = :brand', "b = '7'").replace('<> :brand', "<> '7'"))
  assert.ok(namesBrand(query))
  assert.ok(!namesBrand("select ':brand' -- :brand"))
  assert.throws(() => bindBrand('select :brand', "1' or true --"), /is not a brand/)
})
