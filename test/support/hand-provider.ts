import type { Condition } from "../../runtime/api/schemas/function-status.ts";
import { eventually } from "./eventually.ts";
import type { Platform } from "./platform.ts";

/** Says what there is of a function: the addresses of its ready replicas, and how it goes. */
export type TellReplicas = (addresses: readonly string[], conditions?: readonly Condition[]) => Promise<void>;

/** A provider that starts nothing: what becomes of the replicas of sleeping functions is in the test's hands. */
export interface HandProvider extends AsyncDisposable {
  /**
   * Scales a deployed function to zero and takes its replicas away; `awaken` is what happens each time when replicas are
   * wanted again.
   */
  sleep(name: string, awaken: (tell: TellReplicas) => Promise<void>): Promise<void>;
  /** How often replicas were wanted again. */
  woken(name: string): number;
  /** Ends it; rejects with what an awakening failed of. */
  close(): Promise<void>;
}

/** Takes the provider's part on a platform whose functions were deployed by `deploy`. */
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
      const answer = await calls.send("POST", `/system/scale-function/${name}`, { headers, body: '{"replicas":0}' });
      if (answer.status !== 202) throw new Error(`scaling ${name} answered ${answer.status}`);
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
