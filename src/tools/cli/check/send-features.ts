import { type Feature, features } from '../../checker/target.ts'

/** The endpoints that receive messages. */
export const sendFeatures = features.filter(
  (feature): feature is Exclude<Feature, 'reconciliation'> => feature !== 'reconciliation',
)
