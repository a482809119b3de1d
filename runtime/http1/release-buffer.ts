/**
 * Marks bytes that their reader has given back: what they hold is no longer anybody's. Does nothing; the tests run with
 * `--conditions=weir-poison`, which puts `release-buffer-poisoned.ts` in its place.
 */
export function releaseBuffer(_bytes: Uint8Array): void {}
