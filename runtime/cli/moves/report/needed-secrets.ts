/** A secret that something which was imported names. */
export interface SecretUse {
  readonly name: string;
  /** The gateway's default one when undefined. */
  readonly namespace: string | undefined;
}

/** A secret that must exist, and the command that creates it. */
export interface NeededSecret {
  readonly name: string;
  readonly namespace?: string;
  readonly command: string;
}

/** Each secret once, in the order of their first use. */
export function neededSecrets(uses: readonly SecretUse[]): readonly NeededSecret[] {
  const byPlace = new Map(uses.map((use) => [JSON.stringify([use.namespace, use.name]), use]));
  return [...byPlace.values()].map(({ name, namespace }) => ({
    name,
    ...(namespace === undefined ? {} : { namespace }),
    command: `weir secrets create ${name}${namespace === undefined ? "" : ` -n ${namespace}`} --from-file FILE`,
  }));
}
