import { readFileSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { join } from "node:path";

import { dockerEngine } from "../adapters/machine/docker/docker-engine.ts";
import { HttpCallbackSender } from "../adapters/http/callbacks/http-callback-sender.ts";
import { invokerFor } from "../adapters/http/upstream/invoker-for.ts";
import { HttpProber } from "../adapters/http/probe/http-prober.ts";
import { HttpUpstream } from "../adapters/http/upstream/http-upstream.ts";
import { localEngine } from "../adapters/machine/local/local-engine.ts";
import { NatsEndpoints } from "../adapters/nats/stores/nats-endpoints.ts";
import { NatsFunctionStore } from "../adapters/nats/stores/nats-function-store.ts";
import { NatsLink } from "../adapters/nats/link/nats-link.ts";
import { NatsNamespaceStore } from "../adapters/nats/stores/nats-namespace-store.ts";
import { autoscalerAdapters, doctorAdapters, gatewayAdapters, workerAdapters } from "../adapters/nats/open-nats.ts";
import { mostCalls } from "../adapters/nats/streams.ts";
import { findNatsServer } from "../adapters/nats/server/find-nats-server.ts";
import { lastingPort, portRanges, tryPort } from "../adapters/nats/server/free-port.ts";
import { NatsServerProcess } from "../adapters/nats/server/nats-server-process.ts";
import type { ProviderName } from "../api/machine-providers.ts";
import type { Engine } from "../core/ports/engine.ts";
import { natsUser, natsUsers } from "../api/broker/nats-users.ts";
import { buildAutoscalerMetrics } from "../autoscaler/autoscaler-metrics.ts";
import { buildAutoscaler } from "../autoscaler/build-autoscaler.ts";
import { buildGateway } from "../gateway/build-gateway.ts";
import { drainGateway } from "../gateway/drain-gateway.ts";
import { openAdminServer } from "../process/admin-server.ts";
import { followBroker } from "../process/follow-broker.ts";
import { holdLock } from "../process/hold-lock.ts";
import { buildInvocationMetrics } from "../process/metrics/invocation-metrics.ts";
import { createLog } from "../process/log.ts";
import { dockerHost } from "../process/machine-facts.ts";
import { runService } from "../process/run-service.ts";
import { environment } from "../process/settings.ts";
import { buildProvider } from "../provider/build-provider.ts";
import { buildQueueDoctor } from "../queue-doctor/build-queue-doctor.ts";
import { declareQueues } from "../queue-doctor/declare-queues.ts";
import { buildDoctorMetrics } from "../queue-doctor/doctor-metrics.ts";
import { openQueueWorker, type OpenQueueWorker } from "../queue-worker/open-queue-worker.ts";
import { callbackHeadTimeout } from "../queue-worker/settings.ts";
import { buildWorkerMetrics } from "../queue-worker/worker-metrics.ts";
import { besideGateway, bridgePort, functionGatewayUrl, hostCallbackRules, ownUrl } from "./addresses.ts";
import { formatBanner } from "./banner.ts";
import { checkStore } from "./check-store.ts";
import { countFunctions } from "./count-functions.ts";
import { openCredentials } from "./credentials.ts";
import { openDataDirectory } from "./data-directory.ts";
import { autoProviders, chooseProvider } from "./provider-choice.ts";
import { readHostSettings } from "./read-host-settings.ts";
import { busyPort, failureText } from "./report-failure.ts";
import { hostDrainTimeout, longestRun, machineStore } from "./settings.ts";
import { stopNotice, type UnderWay } from "./stop-notice.ts";
import { systemInfo } from "./system-info.ts";

const say = (line: string): void => void process.stderr.write(`${line}\n`);

async function freePort(wanted: number, flag: "port" | "admin-port"): Promise<number> {
  const range = flag === "port" ? portRanges.gateway : portRanges.admin;
  // Seconds pass before the gateway listens: what the system gives for 0 may be another's by then.
  const port = await (wanted === 0 ? lastingPort(range) : tryPort(wanted));
  if (port === undefined) throw new Error(busyPort(wanted, flag));
  return port;
}

const { settings, warnings } = readHostSettings(process.argv.slice(2));
const queues = declareQueues(settings);
const log = createLog("host", settings.logLevel, settings.logFormat);
for (const warning of warnings) say(warning);
let underWay = (): UnderWay => ({ calls: 0, runs: 0 });

await runService({
  log,
  drainTimeout: () => hostDrainTimeout(settings),
  onStop: () => {
    const notice = stopNotice(underWay());
    if (notice !== undefined) say(notice);
  },
  reportFailure: (err) => {
    say(failureText(err));
    log.debug({ err }, "cannot start");
  },
  open: async (lifecycle, stop) => {
    const port = await freePort(settings.port, "port");
    const adminPort = await freePort(settings.adminPort, "admin-port");
    const data = await openDataDirectory(settings.data);
    lifecycle.onClose("data directory", () => data.close());
    lifecycle.onEndNow("data directory", () => data.close());
    const { layout } = data;
    const credentials = await openCredentials(layout.credentials);

    const admin = await openAdminServer({ host: "127.0.0.1", port: adminPort });
    lifecycle.onClose("admin server", () => admin.close());

    const binary = await findNatsServer({ path: settings.natsServer, environment: environment(), say });
    const nats = await NatsServerProcess.open({
      binary,
      directory: layout.nats,
      ports: { port: settings.natsPort, monitorPort: settings.natsMonitorPort },
      durability: settings.durability,
      payloadLimit: settings.asyncMaxBody,
      users: natsUsers({ queues: queues.map(({ name }) => name), oneMachine: true }),
      onEvent: (event) => log.warn(event, "nats-server"),
    });
    lifecycle.onClose("nats-server", () => nats.close());
    // Even when this process is ended in a hurry the broker gets its signal.
    process.once("exit", () => nats.pid !== undefined && process.kill(nats.pid, "SIGTERM"));

    const store = { bytes: nats.maxFileStore, calls: mostCalls({ ...settings, maxFileStore: nats.maxFileStore }) };
    checkStore(store, layout.nats, settings);

    const connect = async (user: string): Promise<NatsLink> => {
      const link = await NatsLink.open({ ...nats.access(user), name: user, pingInterval: settings.natsPingInterval });
      lifecycle.onClose(`broker connection of ${user}`, () => link.close());
      return link;
    };

    const doctorLink = await connect(natsUser.doctor);
    const doctor = buildQueueDoctor({
      ...doctorAdapters(doctorLink, { ...machineStore(settings), maxFileStore: nats.maxFileStore }, [nats.monitorUrl]),
      queues,
      recreate: settings.recreate,
      servers: { restart: () => nats.renew() },
      period: settings.doctorPeriod,
      leaseTtl: settings.leaseTtl,
      times: settings,
      metrics: buildDoctorMetrics(admin.registry),
      log: log.child({ part: "queue-doctor" }),
    });
    await doctor.provision();
    const looking = doctor.run(stop);
    lifecycle.onClose("queue-doctor", () => looking);

    const providerLink = await connect(natsUser.provider);
    const providerFunctions = new NatsFunctionStore(providerLink);
    const providerNamespaces = new NatsNamespaceStore(providerLink);
    const engines: Readonly<Record<ProviderName, Engine>> = {
      local: localEngine(holdLock),
      docker: dockerEngine(settings.dockerSocket, dockerHost()),
    };
    const { provider: chosen, engineTrouble: withoutEngine } = await chooseProvider({
      file: layout.provider,
      wanted: settings.provider,
      functions: () => countFunctions(providerFunctions, providerNamespaces, settings.functionNamespace),
      engine: () => engines[autoProviders.preferred].look(),
    });
    const machine = await engines[chosen].open({
      data: layout.root,
      secrets: layout.secrets,
      logs: layout.logs,
      run: layout.run,
      platformNamespace: settings.platformNamespace,
      gatewayPort: bridgePort,
      defaultLimits: { memory: settings.functionMemory, cpu: settings.functionCpu },
      log: log.child({ part: chosen }),
    });
    lifecycle.onClose("replicas", () => machine.close());
    lifecycle.onEndNow("replicas", () => machine.endNow());
    // Before the replicas: what is cut off with them must not be written down as an attempt that failed.
    lifecycle.onEndNow("nats-server", () => nats.close());
    const url = ownUrl(settings, port);
    const provider = buildProvider({
      functions: providerFunctions,
      namespaces: providerNamespaces,
      endpoints: new NatsEndpoints(providerLink),
      replicas: machine.replicas,
      secrets: machine.secrets,
      prober: new HttpProber(),
      gatewayUrl: functionGatewayUrl(settings, chosen, url),
      secretsDirectory: (ref) => machine.secretsDirectory(ref),
      upstreamTimeout: longestRun(settings, queues),
      log: log.child({ part: "provider" }),
    });
    await provider.open();
    lifecycle.onClose("provider", () => provider.close());
    // First of all: it would start again what is ended, and tell of failures that are none.
    lifecycle.onEndNow("provider", () => void provider.close().catch(() => {}));

    // Before those that report to it: it hears them from their first word on.
    const autoscaler = buildAutoscaler({
      settings,
      ...autoscalerAdapters(await connect(natsUser.autoscaler)),
      usage: machine.usage,
      metrics: buildAutoscalerMetrics(admin.registry),
      log: log.child({ part: "autoscaler" }),
    });
    lifecycle.onClose("autoscaler", () => autoscaler.close());
    await autoscaler.open();

    const certificate = settings.tlsCert === undefined ? undefined : readFileSync(settings.tlsCert);
    const upstream = new HttpUpstream({ certificate });
    lifecycle.onClose("upstream", () => upstream.close());
    const adminUrl = `http://127.0.0.1:${adminPort}`;
    const callbackRules = hostCallbackRules(settings, url, [adminUrl, nats.url, nats.monitorUrl]);
    const sender = new HttpCallbackSender({
      rules: callbackRules,
      gatewayOrigin: url,
      gatewayCertificate: certificate,
      headTimeout: callbackHeadTimeout(settings),
      timeout: settings.callbackTimeout,
    });
    lifecycle.onClose("callback sender", () => sender.close());

    const metrics = buildWorkerMetrics(admin.registry);
    const invocations = buildInvocationMetrics(admin.registry);
    const workerLinks: { readonly queue: string; readonly link: NatsLink; readonly inboxPrefix: string }[] = [];
    for (const { name: queue } of queues) {
      const user = natsUser.worker(queue);
      workerLinks.push({ queue, link: await connect(user), inboxPrefix: nats.access(user).inboxPrefix });
    }
    const workers: OpenQueueWorker[] = [];
    // Together: each may take as long as its runs are waited for.
    lifecycle.onClose("queue-workers", () => Promise.all(workers.map((worker) => worker.close())));
    for (const { queue, link, inboxPrefix } of workerLinks) {
      workers.push(
        await openQueueWorker({
          settings: { ...settings, queue },
          ...workerAdapters(link, inboxPrefix),
          slots: ({ replicas, maxInflight }) => replicas * maxInflight,
          ...invokerFor(upstream, { ...settings, gatewayUrl: url, secretMountPath: layout.credentials }),
          sender,
          metrics,
          invocations,
          log: log.child({ part: "queue-worker", queue }),
        }),
      );
    }

    const gatewayLink = await connect(natsUser.gateway);
    const gateway = buildGateway({
      // As it was typed, for the start page.
      settings: { ...settings, port, secretMountPath: join(settings.data, "credentials") },
      ...gatewayAdapters(gatewayLink, settings),
      upstream,
      secrets: machine.secrets,
      logs: machine.logs,
      usage: machine.usage,
      callbackRules,
      info: await systemInfo(settings, chosen),
      registry: admin.registry,
      invocations,
      log: log.child({ part: "gateway" }),
    });
    await gateway.open();
    underWay = () => ({
      calls: gateway.inFlight,
      runs: workers.reduce((sum, { running }) => sum + running, 0),
    });
    lifecycle.onClose("gateway", () => gateway.close());
    const unhear = await machine.onAddresses((hosts) => gateway.listenAlso(besideGateway(settings, port, hosts)));
    lifecycle.onClose("bridges", () => unhear());

    const links = [doctorLink, gatewayLink, ...workerLinks.map(({ link }) => link)];
    followBroker(
      { admin, log },
      links.map(({ trouble }) => trouble),
      () => doctor.trouble,
    );
    admin.addCheck("provider", () => provider.check());
    admin.ready();
    lifecycle.onClose("readiness", () => {
      admin.drain();
      return drainGateway(gateway, settings.shutdownDelay);
    });
    process.stdout.write(
      formatBanner({
        url,
        adminUrl,
        user: credentials.user,
        passwordFile: join(settings.data, "credentials", "basic-auth-password"),
        edition: settings.edition,
        provider: chosen,
        withoutEngine,
        isolation: machine.isolation,
        durability: settings.durability,
        store,
      }),
    );
    // For the next start, should this one be killed; without `NODE_COMPILE_CACHE` there is nothing to keep.
    flushCompileCache();
  },
});
