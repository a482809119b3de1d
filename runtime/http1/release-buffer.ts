/**
 * Marks bytes that their reader released. Does nothing; the tests run with `--conditions=weir-poison`, which
 * substitutes `release-buffer-poisoned.ts`.
 */
export function releaseBuffer(_bytes: Uint8Array): void {}
