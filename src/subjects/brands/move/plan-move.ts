// Decides from the rows of `brand_moves` what the command has to do: it may be repeated after it was killed. Pure.

import type { BrandMove } from '../../../base/queue/owners/brand-moves.ts'

export interface MoveFacts {
  readonly brand: string
  /** The number of the target. */
  readonly to: number
  /** The number of the store in which the brand lives by the settings. */
  readonly home: number
  /** The row of the brand in each store that has one, by number. */
  readonly moves: ReadonlyMap<number, BrandMove>
}

/** move: nothing has moved yet. finish: all rows are in the target, and those of the source are to be deleted. */
export type MovePlan = { readonly step: 'move' | 'finish'; readonly source: number } | { readonly refused: string }

export function planMove({ brand, to, home, moves }: MoveFacts): MovePlan {
  const received = moves.get(to)
  const source = home === to && received?.state === 'received' ? received.other : home
  const left = moves.get(source)
  if (source === to) return { refused: `brand ${brand} lives in store ${to} already` }
  if (left?.state === 'moved' && left.other !== to)
    return {
      refused: `brand ${brand} has moved from store ${source} to store ${left.other}: correct the setting stores first`,
    }
  const isCopied = received?.state === 'received' && received.move === left?.move
  if (isCopied && (left?.state === 'committing' || left?.state === 'moved')) return { step: 'finish', source }
  if (left?.state === 'moved')
    return {
      refused: `brand ${brand} has moved from store ${source}, but store ${to} does not have it: restore the database of store ${to}`,
    }
  if (left?.state === 'committing' && left.other !== to)
    return {
      refused: `it is unknown whether brand ${brand} has moved from store ${source} to store ${left.other}: repeat that command first`,
    }
  if (home === to) return { refused: `brand ${brand} lives in store ${to} already` }
  return { step: 'move', source }
}
