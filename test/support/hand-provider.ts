import type { Condition } from "../../runtime/api/schemas/function-status.ts";
import { eventually } from "./eventually.ts";
import type { Platform } from "./platform.ts";

/** Publishes the state of a function: the addresses of its ready replicas, and its conditions. */
export type TellReplicas = (addresses: readonly string[], conditions?: readonly Condition[]) => Promise<void>;

/** A provider that starts nothing: the test decides about the replicas of functions that are scaled to zero. */
export interface HandProvider extends AsyncDisposable {
  /**
   * Scales a deployed function to zero and removes its replicas; `awaken` is called each time replicas are desired
   * again.
   */
  sleep(name: string, awaken: (tell: TellReplicas) => Promise<void>): Promise<void>;
  /** How often replicas were desired again. */
  woken(name: string): number;
  /** Ends it; rejects with the error of an `awaken` that failed. */
  close(): Promise<void>;
}

/** Acts as the provider of a platform whose functions were deployed by `deploy`. */
export async function handProvider({ broker, calls, authorization }: Platform): Promise<HandProvider> {
  interface Sleeper {
    asleep: boolean;
    woken: number;
    readonly awaken: () => Promise<void>;
  }
  const namespace = "functions";
  const sleepers = new Map<string, Sleeper>();
  const awakenings: Promise<void>[] = [];
  const end = await broker.functions.watch({
    set: ({ name, replicas }) => {
      const sleeper = sleepers.get(name);
      if (sleeper === undefined || sleeper.asleep === (replicas === 0)) return;
      sleeper.asleep = replicas === 0;
      if (sleeper.asleep) return;
      sleeper.woken += 1;
      awakenings.push(sleeper.awaken());
    },
    removed: () => {},
    synced: () => {},
  });
  const close = async (): Promise<void> => {
    end();
    await Promise.all(awakenings);
  };
  return {
    sleep: async (name, awaken) => {
      const tell: TellReplicas = (addresses, conditions = []) =>
        broker.endpoints.publish({ name, namespace, addresses, observedGeneration: 1, conditions });
      sleepers.set(name, { asleep: false, woken: 0, awaken: () => awaken(tell) });
      const headers = { authorization, "content-type": "application/json" };
      const response = await calls.send("POST", `/system/scale-function/${name}`, { headers, body: '{"replicas":0}' });
      if (response.status !== 202) throw new Error(`scaling ${name} answered ${response.status}`);
      await tell([]);
      await eventually(
        async () => {
          const status = await calls.send("GET", `/system/function/${name}`, { headers });
          const { replicas, availableReplicas } = JSON.parse(status.body.toString());
          return sleepers.get(name)?.asleep === true && replicas === 0 && availableReplicas === 0;
        },
        { what: `function ${name} to sleep` },
      );
    },
    woken: (name) => sleepers.get(name)?.woken ?? 0,
    close,
    [Symbol.asyncDispose]: close,
  };
}
