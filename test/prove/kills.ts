import type { Proof } from '../../prove/harness/proof.ts'

export const isOfKills = ({ name }: Proof): boolean => name.startsWith('kills')
