/** A brand cannot be moved with these settings, or in this state of the stores. */
export class MoveRefused extends Error {
  override readonly name = 'MoveRefused'
}
