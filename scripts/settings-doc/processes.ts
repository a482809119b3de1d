import { brokerUserRule } from "../../runtime/settings/platform-settings.ts";
import type { Settings } from "../../runtime/settings/setting.ts";
import { autoscalerRules, autoscalerSettings } from "../../runtime/autoscaler/settings.ts";
import { gatewayPortRule, gatewayRules, gatewaySettings } from "../../runtime/gateway/settings.ts";
import { historySettings } from "../../runtime/history/settings.ts";
import { hostRules, hostSettings } from "../../runtime/host/settings.ts";
import { passwordFileRule, tlsRule } from "../../runtime/process/file-rules.ts";
import { operatorRules, operatorSettings } from "../../runtime/operator/settings.ts";
import { providerSettings } from "../../runtime/provider/settings.ts";
import { clusterRule, queueDoctorRules, queueDoctorSettings, storeRule } from "../../runtime/queue-doctor/settings.ts";
import { gatewayInvokeRule, queueWorkerRules, queueWorkerSettings } from "../../runtime/queue-worker/settings.ts";

/** A process that reads settings. */
export interface DocumentedProcess {
  /** Its name in the column "Read by". */
  readonly name: string;
  readonly about: string;
  readonly settings: Settings;
  readonly rules: readonly { readonly sentence: string }[];
}

const broker = [brokerUserRule, passwordFileRule];

/** All processes that read settings of the platform, in the order of the page. */
export const processes: readonly DocumentedProcess[] = [
  {
    name: "one machine",
    about: "`npm start`, everything in one process",
    settings: hostSettings,
    rules: [...hostRules, tlsRule],
  },
  {
    name: "gateway",
    about: "`node runtime/gateway/main.ts`, beside a broker that runs already",
    settings: gatewaySettings,
    rules: [...gatewayRules, gatewayPortRule, tlsRule, ...broker],
  },
  {
    name: "queue-worker",
    about: "`node runtime/queue-worker/main.ts`, one queue each",
    settings: queueWorkerSettings,
    rules: [...queueWorkerRules, gatewayInvokeRule, ...broker],
  },
  {
    name: "queue-doctor",
    about: "`node runtime/queue-doctor/main.ts`, the only one that creates streams",
    settings: queueDoctorSettings,
    rules: [...queueDoctorRules, storeRule, clusterRule, ...broker],
  },
  {
    name: "autoscaler",
    about: "`node runtime/autoscaler/main.ts`; several may run, one is the leader",
    settings: autoscalerSettings,
    rules: [...autoscalerRules, ...broker],
  },
  {
    name: "history",
    about: "`node runtime/history/main.ts`, which one machine starts itself",
    settings: historySettings,
    rules: broker,
  },
  {
    name: "operator",
    about: "`node runtime/operator/main.ts`, on Kubernetes only; several may run, one is the leader",
    settings: operatorSettings,
    rules: operatorRules,
  },
];

/** Names of the settings of all processes, in alphabetical order. */
export function allSettingNames(): string[] {
  const tables = [...processes.map(({ settings }) => settings), providerSettings];
  return [...new Set(tables.flatMap((table) => Object.values(table).map(({ name }) => name)))].toSorted();
}
