/** Where this adapter says what nobody waits for. */
export interface ProviderLog {
  warn(facts: object, sentence: string): void;
}
