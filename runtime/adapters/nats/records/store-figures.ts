import { requestTimeout, type NatsLink } from "../link/nats-link.ts";
import { shareKey, storeKey } from "../streams.ts";
import { recordStream } from "./call-record-reader.ts";

/** Reply of `STREAM.INFO` (NATS JetStream API), as far as it is read here. */
interface StreamInfoReply {
  readonly config?: {
    readonly max_msgs?: number;
    readonly num_replicas?: number;
    readonly metadata?: Readonly<Record<string, string>>;
  };
  readonly state?: { readonly messages?: number; readonly bytes?: number };
  /** Absent on a server without others. */
  readonly cluster?: {
    readonly leader?: string;
    readonly replicas?: readonly { readonly current?: boolean; readonly offline?: boolean }[];
  };
}

/** How full the bucket of call records and the store as a whole are; unknown limits are infinite. */
export interface StoreFigures {
  readonly records: number;
  readonly recordBytes: number;
  readonly maxRecords: number;
  /** Bytes that records may take. */
  readonly recordShare: number;
  /** Bytes that all streams take; 0 if not asked for. */
  readonly stored: number;
  /** Bytes that all streams may take. */
  readonly store: number;
  /** Servers that should have the bucket, and those that have all of it; both 0 if there is no bucket. */
  readonly copies: { readonly wanted: number; readonly current: number };
}

/** Asks the broker. `asksStore`: also how much it stores in total, which only gateways may. Rejects after 0.5 s. */
export async function readStoreFigures(link: NatsLink, asksStore: boolean): Promise<StoreFigures> {
  const request = async <T>(name: string): Promise<T> => {
    const reply = await link.request(`$JS.API.${name}`, "", { timeout: requestTimeout });
    return reply.json<T>();
  };
  const [{ config, state, cluster }, account] = await Promise.all([
    request<StreamInfoReply>(`STREAM.INFO.${recordStream}`),
    asksStore ? request<{ readonly storage?: number }>("INFO") : undefined,
  ]);
  const followers = (cluster?.replicas ?? []).filter(({ current, offline }) => current === true && offline !== true);
  const wanted = config?.num_replicas ?? 0;
  return {
    records: state?.messages ?? 0,
    recordBytes: state?.bytes ?? 0,
    maxRecords: limit(config?.max_msgs),
    recordShare: limit(Number(config?.metadata?.[shareKey])),
    stored: account?.storage ?? 0,
    store: limit(Number(config?.metadata?.[storeKey])),
    copies: { wanted, current: Math.min(wanted, 1 + followers.length) },
  };
}

function limit(value: number | undefined): number {
  return value === undefined || Number.isNaN(value) || value <= 0 ? Number.POSITIVE_INFINITY : value;
}
