import { join } from "node:path";

import { openHttpHistory } from "../../adapters/http/history/open-http-history.ts";
import { FileDisks } from "../../adapters/files/file-disks.ts";
import type { NatsLink } from "../../adapters/nats/link/nats-link.ts";
import { gatewayAdapters } from "../../adapters/nats/open-nats.ts";
import { natsUser } from "../../api/broker/nats-users.ts";
import { buildGateway } from "../../gateway/build-gateway.ts";
import type { HistoryParts } from "../../gateway/rest/app-parts.ts";
import type { BuiltGateway } from "../../gateway/gateway-parts.ts";
import { besideGateway } from "../addresses.ts";
import { folderFaultHere } from "../check-settings.ts";
import type { Provider } from "../../provider/build-provider.ts";
import type { HostAccess } from "./access.ts";
import type { HostHistory } from "./history.ts";
import type { HostStart } from "./host-start.ts";
import { systemInfo } from "../system-info.ts";
import type { Broker } from "./broker.ts";
import type { ChosenEngine } from "./engine.ts";
import type { Outgoing } from "./outgoing.ts";
import type { HostPlace } from "./place.ts";
import type { OpenQueueWorkers } from "./queue-workers.ts";

/** The listening gateway. */
export interface OpenGateway {
  readonly gateway: BuiltGateway;
  readonly gatewayLink: NatsLink;
}

type Given = HostStart &
  HostPlace &
  Broker &
  ChosenEngine &
  Outgoing &
  OpenQueueWorkers &
  HostAccess &
  HostHistory & {
    readonly provider: Provider;
  };

/** Starts to listen, also in the networks of replicas. */
export async function openGateway(given: Given): Promise<OpenGateway> {
  const { settings, port, lifecycle, engine, workers } = given;
  const gatewayLink = await given.connect(natsUser.gateway);
  const gateway = buildGateway({
    // The path as it was typed, for the start page.
    settings: { ...settings, port, secretMountPath: join(settings.data, "credentials") },
    ...gatewayAdapters(gatewayLink, settings),
    upstream: given.upstream,
    secrets: engine.secrets,
    logs: engine.logs,
    usage: engine.usage,
    folderFault: folderFaultHere(settings, engine.folderFault),
    // The broker's store is below it.
    disks: new FileDisks({ data: settings.data }),
    providerFault: () => given.provider.check(),
    history: historyParts(given),
    callbackRules: given.callbackRules,
    access: given.access,
    info: await systemInfo(settings, given.providerName, given.setAside),
    registry: given.admin.registry,
    invocations: given.invocations,
    log: given.log.child({ part: "gateway" }),
  });
  await gateway.open();
  given.countUnderWay(() => ({
    calls: gateway.inFlight,
    runs: workers.reduce((sum, { running }) => sum + running, 0),
  }));
  lifecycle.onClose("gateway", () => gateway.close());
  const unsubscribe = await engine.onAddresses((hosts) => gateway.listenAlso(besideGateway(settings, port, hosts)));
  lifecycle.onClose("bridges", () => unsubscribe());
  return { gateway, gatewayLink };
}

function historyParts({ historyAddress, lifecycle, settings, admin }: Given): HistoryParts | undefined {
  if (historyAddress === undefined) return undefined;
  const { parts, metrics, close } = openHttpHistory({ address: historyAddress, keptLogs: settings.keptLogs });
  lifecycle.onClose("history client", close);
  admin.addMetrics(metrics);
  return parts;
}
