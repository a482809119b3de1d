import { openHttpHistory, type HttpHistoryOptions } from "./history/open-http-history.ts";
import { HttpUpstream } from "./upstream/http-upstream.ts";

/** What a gateway in its own process asks functions and the history with; there is no history if `asked` is undefined. */
export function openGatewayClients(asked: HttpHistoryOptions | undefined) {
  const upstream = new HttpUpstream();
  const history = asked && openHttpHistory(asked);
  return {
    upstream,
    history: history?.parts,
    close: async (): Promise<void> => {
      await Promise.all([upstream.close(), history?.close()]);
    },
  };
}
