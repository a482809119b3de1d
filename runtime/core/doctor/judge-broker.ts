import type { Finding } from "../../api/schemas/doctor-report.ts";
import type { SetAsidePart } from "../../api/schemas/system-info.ts";
import type { BrokerStore, StoreShare } from "../ports/broker-view.ts";
import type { QueuePlace } from "../queues/queue-remedy.ts";
import { nearlyFull, storeLimit } from "../queues/store-limits.ts";
import type { DoctorFacts, ExaminedBroker } from "./doctor-facts.ts";

/** Copies that durability `cluster` promises. */
const clusterCopies = 3;

/** Whether the broker replies and stores, has room, and stores as durably as it is said to. */
export function judgeBroker({
  broker,
  durability,
  place,
  setAside,
}: Pick<DoctorFacts, "broker" | "durability" | "place" | "setAside">): readonly Finding[] {
  const state = [brokerFinding(broker, place), ...setAside.map(asideFinding)];
  if ("missing" in broker.store) return state;
  const store = broker.store.value;
  return [...state, ...storeFindings(store, place), durabilityFinding(store, durability)];
}

function asideFinding({ part, reason, loss, path, at }: SetAsidePart): Finding {
  return {
    id: "set-aside",
    level: "problem",
    subject: part,
    sentence: `The broker could not recover it at ${at} (${reason}), and it was created again, empty; missing: ${loss}`,
    advice: `restore it from a backup, or remove "${path}" once it is not needed any more`,
  };
}

function brokerFinding({ fault, version, isTooOld, store }: ExaminedBroker, { home }: QueuePlace): Finding {
  const finding = { id: "broker", subject: "broker" } as const;
  const problem = (sentence: string, advice: string): Finding => ({ ...finding, level: "problem", sentence, advice });
  switch (fault) {
    case "away":
      return problem(
        "It does not reply: asynchronous calls are refused, and queued ones wait",
        home === "machine"
          ? "look at the log of Weir, which starts it"
          : "look at the pods of StatefulSet nats, or at the address nats_url",
      );
    case "full":
      return problem(
        "It has no room: no call is accepted or ended until it has",
        home === "machine" ? "make room on the disk of the data directory" : "enlarge the volumes of StatefulSet nats",
      );
    case "io-error":
      return problem(
        "Its disk fails: no call is accepted or ended until it works",
        home === "machine" ? "look at the disk of the data directory" : "look at the volumes of StatefulSet nats",
      );
    case "no-leader":
      return problem(
        "Its servers have no leader: calls wait until they have chosen one",
        "if it lasts longer than 10 s, see that most of its servers run and reach one another",
      );
    case undefined:
      break;
    default:
      fault satisfies never;
  }
  if ("missing" in store)
    return problem(
      `It does not say how full it is (${store.missing})`,
      "look at its log, and at the load of its machine",
    );
  if (isTooOld)
    return problem(
      `nats-server ${version ?? ""} is older than the queue needs`,
      "install the version that comes with this release",
    );
  return { ...finding, level: "ok", sentence: `nats-server ${version ?? ""} replies and stores` };
}

function storeFindings({ whole, records, recordBytes }: BrokerStore, { home }: QueuePlace): readonly Finding[] {
  const fullerRecords = fillOf(records) >= fillOf(recordBytes) ? records : recordBytes;
  const judged = [
    {
      share: whole,
      refused: storeLimit,
      subject: "store",
      advice:
        home === "machine"
          ? "make room on the disk of the data directory and start Weir again, or let the queues run empty"
          : "enlarge the volumes and nats.storage of the stack, or let the queues run empty",
    },
    {
      share: fullerRecords,
      refused: 1,
      subject: "call records",
      advice: "raise max_call_records, or lower call_record_ttl and result.ttl of functions",
    },
  ];
  return judged.map(({ share, refused, subject, advice }): Finding => {
    const fill = fillOf(share);
    const sentence = `${Math.round(fill * 100)} % of its room is used`;
    const finding = { id: "store", subject } as const;
    if (fill < nearlyFull) return { ...finding, level: "ok", sentence };
    const level = fill >= refused ? "problem" : "warning";
    const then = level === "problem" ? "new calls are refused" : `from ${refused * 100} % on new calls are refused`;
    return { ...finding, level, sentence: `${sentence}; ${then}`, advice };
  });
}

function durabilityFinding({ copies }: BrokerStore, durability: string): Finding {
  const finding = { id: "durability", subject: "durability" } as const;
  if (durability === "cluster" && copies.current < clusterCopies)
    return {
      ...finding,
      level: "problem",
      sentence: `"cluster" promises ${clusterCopies} copies of every call, and there ${copies.current === 1 ? "is" : "are"} ${copies.current}`,
      advice:
        copies.wanted < clusterCopies
          ? "give the broker three servers, or ask for less"
          : "look at the servers of the broker: one is away or behind",
    };
  return { ...finding, level: "ok", sentence: promises[durability] ?? `"${durability}" is asked for` };
}

const promises: Readonly<Record<string, string>> = {
  interval: '"interval": a crash of the operating system can lose about the last second of calls',
  always: '"always": a call that was accepted is on the disk',
  cluster: '"cluster": three servers have every call that was accepted',
};

function fillOf({ used, limit }: StoreShare): number {
  return used / limit;
}
