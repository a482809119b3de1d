/** What streams of a small broker on one machine are made by. */
export const smallStreamFacts = {
  maxFileStore: 536_870_912,
  payloadLimit: 1_048_576,
  maxCallRecords: 20,
  replicas: 1,
  oneMachine: true,
} as const;
