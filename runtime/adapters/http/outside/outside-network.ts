import { lookup } from "node:dns/promises";

import { buildConnector } from "undici";

/** How hosts outside the platform are reached: receivers of callbacks, issuers of tokens. */
export interface OutsideNetwork {
  /** All addresses of a name, at least one; rejects when it has none. */
  resolve(name: string): Promise<readonly string[]>;
  /** Builds the connector that opens connections, as undici's own `buildConnector` does. */
  connector(options: buildConnector.BuildOptions): buildConnector.connector;
  /** How hosts of the platform and its cluster are reached, if it is another way. */
  readonly inside?: OutsideNetwork;
}

/** The resolver and the sockets of this machine. */
export const machineNetwork: OutsideNetwork = {
  resolve: async (name) => (await lookup(name, { all: true, verbatim: true })).map(({ address }) => address),
  connector: (options) => buildConnector(options),
};
