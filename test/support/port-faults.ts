import { setTimeout as pause } from "node:timers/promises";

import { PlatformError } from "../../runtime/api/platform-error.ts";
import type { CallLedger } from "../../runtime/core/ports/call-ledger.ts";
import type { CallQueue, Delivery, DeliverySource } from "../../runtime/core/ports/call-queue.ts";
import type { CallbackQueue } from "../../runtime/core/ports/callback-queue.ts";
import type { DeadLetters } from "../../runtime/core/ports/dead-letters.ts";
import type { FaultPlan } from "./fault-plan.ts";

/** Operation `CallQueue.put`; a lost response and a timeout give `unknown`, unavailable gives `refused`. */
export function faultyCallQueue(queue: CallQueue, plan: FaultPlan): CallQueue {
  return {
    put: (call, until, redrives) =>
      through(plan, "CallQueue.put", call.id, () => queue.put(call, until, redrives), noResponse, refusal),
  };
}

/** Operation `CallbackQueue.put`. */
export function faultyCallbackQueue(queue: CallbackQueue, plan: FaultPlan): CallbackQueue {
  return {
    put: (callback, until) =>
      through(plan, "CallbackQueue.put", callback.id, () => queue.put(callback, until), noResponse, refusal),
  };
}

/**
 * Operations `CallLedger.create`, `.read`, `.update`, `.withdraw`, `.putResult`, `.readResult`, `.removeResult`.
 * `create` and `update` resolve as their port says; the others reject with `queue_unavailable`, except `withdraw`,
 * which promises only to try.
 */
export function faultyCallLedger(ledger: CallLedger, plan: FaultPlan): CallLedger {
  const rejecting = <T>(operation: string, id: string, act: () => Promise<T>): Promise<T> =>
    through(
      plan,
      `CallLedger.${operation}`,
      id,
      act,
      () => failure(operation),
      () => failure(operation),
    );
  return {
    create: (id, entry, until) =>
      through(plan, "CallLedger.create", id, () => ledger.create(id, entry, until), noResponse, refusal),
    read: (id) => rejecting("read", id, () => ledger.read(id)),
    update: (id, entry, revision) => {
      // Named by state, as in `CallLedger.update done`: heartbeats that a busy machine adds do not count as steps.
      const operation = `CallLedger.update ${entry.state}`;
      return through(plan, operation, id, () => ledger.update(id, entry, revision), noResponse, refusal);
    },
    fill: () => ledger.fill(),
    now: () => ledger.now(),
    withdraw: (id, revision) =>
      through(
        plan,
        "CallLedger.withdraw",
        id,
        () => ledger.withdraw(id, revision),
        () => undefined,
        () => undefined,
      ),
    putResult: (id, run, result, ttl) => rejecting("putResult", id, () => ledger.putResult(id, run, result, ttl)),
    readResult: (id, run) => rejecting("readResult", id, () => ledger.readResult(id, run)),
    removeResult: (id, run) => rejecting("removeResult", id, () => ledger.removeResult(id, run)),
  };
}

/** Operations `Delivery.acknowledge` (false when it fails) and `Delivery.requeue` (lost when it fails). */
export function faultyDeliverySource<T>(source: DeliverySource<T>, plan: FaultPlan): DeliverySource<T> {
  return {
    take: (slots, handle, signal, mayAsk) =>
      source.take(slots, (delivery) => handle(faultyDelivery(delivery, plan)), signal, mayAsk),
  };
}

/** Operation `DeadLetters.put`. */
export function faultyDeadLetters(letters: DeadLetters, plan: FaultPlan): DeadLetters {
  const fail = () => failure("put", "dead letters");
  return {
    put: (letter) => through(plan, "DeadLetters.put", letter.id, () => letters.put(letter), fail, fail),
  };
}

function faultyDelivery<T>(delivery: Delivery<T>, plan: FaultPlan): Delivery<T> {
  const call = delivery.raw.headers.get("Weir-Call");
  return {
    content: delivery.content,
    raw: delivery.raw,
    queue: delivery.queue,
    sequence: delivery.sequence,
    storedAt: delivery.storedAt,
    deliveredAt: delivery.deliveredAt,
    extend: () => delivery.extend(),
    acknowledge: () =>
      through(
        plan,
        "Delivery.acknowledge",
        call,
        () => delivery.acknowledge(),
        () => false,
        () => false,
      ),
    requeue: (delay) => {
      const done = async (): Promise<void> => delivery.requeue(delay);
      void through(
        plan,
        "Delivery.requeue",
        call,
        done,
        () => undefined,
        () => undefined,
      );
    },
  };
}

function noResponse(): { readonly kind: "unknown"; readonly cause: Error } {
  return { kind: "unknown", cause: new Error("no answer, as the test's fault plan wants it") };
}

function refusal(): { readonly kind: "refused"; readonly because: "unavailable"; readonly cause: Error } {
  return {
    kind: "refused",
    because: "unavailable",
    cause: new Error("out of reach, as the test's fault plan wants it"),
  };
}

function failure(operation: string, port = "call ledger"): never {
  throw new PlatformError("queue_unavailable", `Cannot ${operation} in the ${port}: the test's fault plan wants it so`);
}

/** One use of a port under the plan: `silent` is the outcome of a lost response, `refused` of a use not begun. */
async function through<T>(
  plan: FaultPlan,
  operation: string,
  call: string | undefined,
  act: () => Promise<T>,
  silent: () => T,
  refused: () => T,
): Promise<T> {
  const fault = plan.decide(operation, call);
  switch (fault?.kind) {
    case undefined:
      return act();
    case "timed-out":
      return silent();
    case "answer-lost":
      await act();
      return silent();
    case "unavailable":
      return refused();
    case "delayed":
      await pause(fault.by);
      return act();
    case "kill-before":
      return endHere();
    case "kill-after":
      await act();
      return endHere();
    default:
      return fault satisfies never;
  }
}

function endHere(): Promise<never> {
  process.kill(process.pid, "SIGKILL");
  return new Promise(() => undefined);
}
