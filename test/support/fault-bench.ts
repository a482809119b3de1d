import { openCallbackSink, type CallbackSink } from "./callback-sink.ts";
import { eventually } from "./eventually.ts";
import { openFunctionServer, type FunctionHandler, type FunctionServer } from "./function-server.ts";
import type { Allowance } from "./ledger-invariants.ts";
import { openLedger, type LedgerWriter } from "./ledger.ts";
import { sendLoad, type LoadOptions, type LoadSummary } from "./load.ts";
import { holdingsOf, settleAccount, type Settled, type SettleOptions } from "./platform-account.ts";
import { fastProfile } from "./platform-flags.ts";
import { openPlatform, type DeployOptions, type Platform, type PlatformOptions } from "./platform.ts";
import { recordRuns } from "./record-runs.ts";
import { tempDirectory } from "./temp-directory.ts";

export interface FaultBenchOptions extends PlatformOptions {
  /** Handler of the function `working`; by default it echoes the body after as many milliseconds as the body says. */
  readonly work?: FunctionHandler;
}

/**
 * A platform with a function and a receiver of callbacks, and the test's own account of what its `calls` and the load
 * send, what runs, and what is called back.
 */
export interface FaultBench extends AsyncDisposable {
  readonly platform: Platform;
  /** Behind the function `working`. */
  readonly working: FunctionServer;
  readonly sink: CallbackSink;
  /** Calls `working`, by default with bodies that ask for 15 ms. */
  load(options: Partial<LoadOptions> & Pick<LoadOptions, "rate" | "count">): Promise<LoadSummary>;
  /** Deploys one more function whose runs are recorded; it closes with the bench. */
  open(name: string, handler?: FunctionHandler, options?: Omit<DeployOptions, "addresses">): Promise<FunctionServer>;
  /** Checks the invariants I1 to I10 once all calls have settled, which may take a lease and 10 s. */
  settle(allowance?: Allowance & Partial<Pick<SettleOptions, "within" | "known">>): Promise<Settled>;
  close(): Promise<void>;
}

/** Opens it; what its processes hold now is what they must hold at the end (I9). */
export async function openFaultBench({ work, ...options }: FaultBenchOptions = {}): Promise<FaultBench> {
  const directory = await tempDirectory("ledger");
  const writers: LedgerWriter[] = [];
  const writer = (name: string): LedgerWriter => {
    const opened = openLedger(directory.path, name);
    writers.push(opened);
    return opened;
  };
  const platform = await openPlatform({ ...options, ledger: writer("sender") }).catch(async (err: unknown) => {
    await directory.remove();
    throw err;
  });
  const sink = await openCallbackSink({ ledger: writer("sink") });
  const functions: FunctionServer[] = [];
  const open: FaultBench["open"] = async (name, handler = (_request, response) => void response.end("ok"), deploy) => {
    const server = await openFunctionServer(recordRuns(writer(`function-${name}`), handler), {
      keepAliveTimeout: 1_000,
    });
    functions.push(server);
    await platform.deploy(name, { ...deploy, addresses: [server.address] });
    return server;
  };
  const close = async (): Promise<void> => {
    try {
      await platform.close();
    } finally {
      for (const server of functions) await server.close();
      await sink.close();
      for (const each of writers) each.close();
      await directory.remove();
    }
  };
  let loads = 0;
  try {
    const working = await open("working", work ?? echoAfterDelay);
    // The first call warms up the processes; with faulty ports it may need several attempts.
    const first = await eventually(
      async () => {
        const response = await platform.calls.queue("working", { body: "1", callbackUrl: sink.url });
        return response.status === 202 ? response.headers.get("x-call-id") : undefined;
      },
      { what: "the first call to be accepted" },
    );
    await platform.calls.ended(first);
    const before = await holdingsOf(platform);
    return {
      platform,
      working,
      sink,
      load: (load) => {
        loads += 1;
        return sendLoad({
          gateway: platform.url,
          functionName: "working",
          body: () => "15",
          ledger: writer(`load-${loads}`),
          ...load,
        });
      },
      open,
      settle: ({ within, ...allowance } = {}) =>
        settleAccount(platform, {
          directory: directory.path,
          within: within ?? (options.ackWait ?? fastProfile.ackWait) + 10_000,
          before,
          ...allowance,
        }),
      close,
      [Symbol.asyncDispose]: close,
    };
  } catch (err) {
    await close().catch(() => undefined);
    throw err;
  }
}

const echoAfterDelay: FunctionHandler = (_request, response, body) =>
  void setTimeout(() => response.end(body), Number(body));
