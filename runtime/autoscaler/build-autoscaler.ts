import { FunctionTable, type TableEntry } from "../core/replicas/function-table.ts";
import type { Activity } from "../core/ports/activity.ts";
import type { Endpoints } from "../core/ports/endpoints.ts";
import type { FunctionStore } from "../core/ports/function-store.ts";
import type { HistoryReports } from "../core/ports/history-reports.ts";
import type { Leases } from "../core/ports/leases.ts";
import type { QueueStates } from "../core/ports/queue-states.ts";
import type { Usage } from "../core/ports/usage.ts";
import type { ScaleRules } from "../core/scaling/scale-rules.ts";
import { Leadership } from "../core/leadership.ts";
import { HeldReplicas } from "../core/scaling/held-back.ts";
import { withScalingReports } from "../core/history/reports/scaling-report-store.ts";
import { Scaler } from "../core/scaling/scaler.ts";
import { observedFunctionStore } from "../core/functions/observed-function-store.ts";
import type { Log } from "../process/log.ts";
import { pauseFor } from "../process/pause-for.ts";
import type { AutoscalerMetrics } from "./autoscaler-metrics.ts";
import { CpuSamples } from "./cpu-samples.ts";
import type { AutoscalerSettings } from "./settings.ts";
import { Sweep } from "./sweep.ts";

/** Everything an autoscaler works with. */
export interface AutoscalerParts {
  readonly settings: AutoscalerSettings;
  readonly functions: FunctionStore;
  readonly endpoints: Endpoints;
  readonly activity: Activity;
  /** Absent: nobody keeps a history. */
  readonly reports?: HistoryReports | undefined;
  readonly states: QueueStates;
  readonly leases: Leases;
  /** Absent: functions that are scaled by processor time keep their replicas. */
  readonly usage?: Usage | undefined;
  readonly metrics: AutoscalerMetrics;
  readonly log: Log;
  /** Milliseconds without calls after which a function goes to zero; absent = as its labels say. */
  readonly idleAfter?: (rules: ScaleRules) => number;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
}

/** Makes replicas follow the load. Of several autoscalers only the leader acts, but all of them know as much. */
export interface BuiltAutoscaler {
  /** Subscribes to reports, fills its table and starts sweeping; rejects with `provider_unavailable` if that fails. */
  open(): Promise<void>;
  /** Whether this one is the leader now. */
  readonly leads: boolean;
  /** Ends after the sweep in flight, and releases the lease. */
  close(): Promise<void>;
}

/** Assembles an autoscaler; nothing happens before `open`. */
export function buildAutoscaler(parts: AutoscalerParts): BuiltAutoscaler {
  const { settings, metrics, log, now = () => performance.now() } = parts;
  const idleAfter = parts.idleAfter ?? (({ zeroDuration }: ScaleRules) => zeroDuration);
  const { scaleWindow: window, activityTimeout: silenceTimeout, wakeTimeout } = settings;
  const scaler = new Scaler({ window, silenceTimeout, wakeTimeout, idleAfter }, now());
  // Only full names are looked up.
  const table = new FunctionTable({ defaultNamespace: "", aliases: [] });
  const functions = observedFunctionStore(withScalingReports(parts.functions, parts.reports), table.functionObserver);
  const leadership = new Leadership({
    leases: parts.leases,
    name: "process.autoscaler",
    leaseTtl: settings.leaseTtl,
    now,
    pause: pauseFor,
    onChange: (leads) => log.info({ leads }, leads ? "became leader" : "lost leadership"),
    onError: (err) => log.debug({ err }, "cannot ask for the lease"),
  });
  metrics.leads = () => leadership.leads;
  const usage = parts.usage ?? { of: () => Promise.resolve(undefined) };
  const samples = new CpuSamples(usage, (key, cpu) => scaler.measure(key, cpu, now()));
  const held = new HeldReplicas(window);
  const sweep = new Sweep({ scaler, held, functions, states: parts.states, samples, leadership, metrics, log, now });
  const see = (entry: TableEntry): void => scaler.see(entry.key, entry, entry.replicas.length, now());
  table.onWanted(see);
  table.onReplicas(see);
  table.onRemoved(({ key }) => scaler.forget(key));

  const stop = new AbortController();
  const endings: (() => unknown)[] = [];
  let running: Promise<unknown> = Promise.resolve();
  const sweeps = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      await pauseFor(settings.scalePeriod, stop.signal);
      if (!stop.signal.aborted) await sweep.go();
    }
  };
  return {
    open: async () => {
      endings.push(parts.activity.subscribe((report) => scaler.addReport(report, now())));
      endings.push(await functions.watch(table.functionObserver));
      endings.push(await parts.endpoints.watch(table.endpointsObserver));
      running = Promise.all([leadership.run(stop.signal), sweeps()]);
    },
    get leads() {
      return leadership.leads;
    },
    close: async () => {
      stop.abort();
      await running;
      for (const end of endings.reverse()) end();
    },
  };
}
