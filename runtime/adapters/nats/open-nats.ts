import { readFileSync } from "node:fs";

import { NatsActivity } from "./nats-activity.ts";
import { NatsCallLedger } from "./nats-call-ledger.ts";
import { NatsCallQueue } from "./nats-call-queue.ts";
import { NatsCallSignals } from "./nats-call-signals.ts";
import type { NatsLink, NatsOptions } from "./nats-link.ts";

/** The broker settings of a process (`brokerSettings`). */
export interface BrokerAccess {
  readonly natsUrl: string;
  readonly natsUser?: string | undefined;
  readonly natsPasswordFile?: string | undefined;
  readonly natsPing: number;
}

/** Connection options from settings; the password comes from its file. */
export function natsOptions(access: BrokerAccess, name: string, inboxPrefix: string): NatsOptions {
  return {
    url: access.natsUrl,
    name,
    user: access.natsUser,
    password: access.natsPasswordFile === undefined ? undefined : readFileSync(access.natsPasswordFile, "utf8").trim(),
    inboxPrefix,
    pingInterval: access.natsPing,
  };
}

/** What every process that deals with calls holds of the broker. */
export function callAdapters(link: NatsLink) {
  return {
    calls: new NatsCallQueue(link),
    ledger: new NatsCallLedger(link),
    signals: new NatsCallSignals(link),
    activity: new NatsActivity(link),
  };
}

/** Why the broker cannot be used now, for `/readyz`. */
export function brokerTrouble(link: NatsLink): string | undefined {
  return link.downFor() > 0 ? "broker: not connected" : undefined;
}
