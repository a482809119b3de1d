import * as pulumi from "@pulumi/pulumi";

import type { ClusterArgs } from "./cluster.ts";
import { Access } from "./components/parts/access.ts";
import { Autoscaler } from "./components/parts/autoscaler.ts";
import { dependenciesOf } from "./components/cluster-args.ts";
import { Credentials } from "./components/credentials.ts";
import { CustomResourceDefinitions } from "./components/parts/custom-resource-definitions.ts";
import { IamRules } from "./components/parts/iam-rules.ts";
import { GatewayIngress } from "./components/parts/gateway-ingress.ts";
import { Gateway } from "./components/parts/gateway.ts";
import { History } from "./components/parts/history.ts";
import { Namespaces } from "./components/parts/namespaces.ts";
import { Nats } from "./components/parts/nats.ts";
import { NetworkPolicies } from "./components/parts/network-policies.ts";
import { Operator } from "./components/parts/operator.ts";
import { Part } from "./components/parts/part.ts";
import { QueueDoctor } from "./components/parts/queue-doctor.ts";
import { QueueWorkers } from "./components/parts/queue-workers.ts";
import { iamApiVersion } from "../runtime/api/iam/iam-schemas.ts";
import type { StackConfig } from "./check-config.ts";
import { checkConflicts, type ConflictCheck } from "./conflicts/conflict-check.ts";
import type { KubernetesObject } from "./manifests/kubernetes-object.ts";
import { platformManifests } from "./manifests/platform-manifests.ts";
import { consoleUrlOf } from "./manifests/console.ts";
import { iamManifests } from "./manifests/iam/iam-objects.ts";
import { gatewayOrigin, publicUrlOf, tokenIssuer } from "./manifests/platform.ts";
import { portForwardCommand } from "./port-forward.ts";
import { providersOf } from "./providers.ts";
import { readArgs } from "./read-args.ts";
import { rolloutGate, type RolloutGate } from "./rollout/rollout-gate.ts";
import { secretReader } from "./rotation/live-secret.ts";
import type { WeirPlatformArgs } from "./weir-platform-args.ts";

/**
 * All of Weir on a cluster. Each part depends on those it needs first, also in an upgrade. One program may have several
 * platforms, each with its own name and namespaces.
 *
 * Options apply to everything it creates: provider, parent, aliases, transforms, dependsOn. `protect` applies to the
 * broker, the disk of the history and the namespaces, whose deletion would delete volumes.
 */
export class WeirPlatform extends pulumi.ComponentResource {
  /** Address of the gateway in the cluster. */
  readonly gatewayUrl: pulumi.Output<string>;
  /** Address for clients outside; empty when there is none. */
  readonly publicUrl: pulumi.Output<string>;
  /** Where browsers open the console; empty when there is none. */
  readonly consoleUrl: pulumi.Output<string>;
  readonly adminUser: pulumi.Output<string>;
  /** Marked as secret. */
  readonly adminPassword: pulumi.Output<string>;
  readonly queues: pulumi.Output<string[]>;
  readonly edition: pulumi.Output<string>;
  /** The command that forwards 127.0.0.1:8080 to the gateway. */
  readonly portForward: pulumi.Output<string>;
  readonly platformNamespace: string;
  readonly functionNamespace: string;
  /** Whether the edition has several namespaces of functions. */
  readonly manyNamespaces: boolean;
  /** Whether the edition has identity and access. */
  readonly hasIam: boolean;
  /** Provider of the cluster, for components on the platform. */
  readonly kubernetes: pulumi.ProviderResource;
  /** What functions need: they are created after these, and deleted before them. */
  readonly parts: readonly pulumi.Input<pulumi.Resource>[];
  /** What functions and rules pass before others come after them. */
  readonly gate: RolloutGate | undefined;

  constructor(name: string, args: WeirPlatformArgs = {}, options: pulumi.ComponentResourceOptions = {}) {
    const { config, given, fillObject: fillTexts, fillText, isOpen } = readArgs(name, args);
    const { kubernetes, random, tls, definitions, cluster } = providersOf(
      name,
      { ...args, forceConflicts: config.forceConflicts },
      options,
    );
    // Only what stores calls is protected: passwords are rotated, and queues may be removed.
    const { protect, provider: _provider, ...passedOn } = options;
    super("weir:platform:Weir", name, {}, { ...passedOn, providers: { kubernetes, random, tls } });
    const { platform, adminUser, timeouts } = config;
    const gate = gateOf(args, cluster);
    this.gate = gate;
    const conflicts = conflictsOf(args, config, cluster, isOpen);
    const fillObject: typeof fillTexts = (object) =>
      conflicts?.withoutOthersReplicas(fillTexts(object)) ?? fillTexts(object);
    const plain = { platform, timeouts, gate, fillObject, protect };
    // Nothing is written before it is known that nothing is in the way. In a preview nothing is written.
    const unchanged =
      conflicts === undefined || pulumi.runtime.isDryRun() ? [] : [conflicts.passed.apply(() => kubernetes)];
    const after = (...parts: (Part | Credentials)[]) => ({
      parent: this,
      dependsOn: [
        ...dependenciesOf(options),
        ...unchanged,
        ...parts.flatMap((part): readonly pulumi.Input<pulumi.Resource>[] =>
          part instanceof Part ? part.done : [part],
        ),
      ],
    });

    const namespaces = new Namespaces(`${name}-namespaces`, plain, after());
    const kinds = config.installCrds
      ? [new CustomResourceDefinitions(`${name}-kinds`, { provider: definitions }, after())]
      : [];
    const access = new Access(`${name}-access`, plain, after(namespaces));
    const policies = new NetworkPolicies(
      `${name}-network-policies`,
      { ...plain, historyDatabase: given.historyDatabase },
      after(namespaces),
    );
    const credentials = new Credentials(
      `${name}-credentials`,
      {
        ...given,
        platform,
        adminUser,
        rotation: config.rotation,
        issuer: fillText(tokenIssuer(platform)),
        readSecret: readerOf(args, cluster),
      },
      after(namespaces),
    );
    const servers = { ...plain, podAnnotations: credentials.ofServers };
    const users = { ...plain, podAnnotations: credentials.ofUsers };
    const historian = { ...plain, podAnnotations: credentials.ofHistory };

    const nats = new Nats(`${name}-nats`, servers, after(policies, credentials));
    const operator = new Operator(`${name}-operator`, plain, after(...kinds, access, policies));
    const rules = iamManifests(platform).length === 0 ? [] : [new IamRules(`${name}-iam`, plain, after(operator))];
    const doctor = new QueueDoctor(`${name}-queue-doctor`, users, after(nats, access, policies, credentials));
    const history = platform.history
      ? [new History(`${name}-history`, historian, after(access, policies, credentials, doctor))]
      : [];
    const workers = new QueueWorkers(`${name}-queue-workers`, users, after(operator, doctor));
    const gateway = new Gateway(`${name}-gateway`, users, after(operator, doctor, workers));
    const autoscaler = new Autoscaler(`${name}-autoscaler`, users, after(operator, doctor, workers));
    const ingress = new GatewayIngress(`${name}-ingress`, plain, after(gateway));

    this.parts = [namespaces, ...kinds, access, operator, ...rules, ...history, gateway, autoscaler, ingress].flatMap(
      ({ done }) => done,
    );

    this.platformNamespace = platform.platformNamespace;
    this.hasIam = platform.hasIam;
    this.functionNamespace = platform.functionNamespace;
    this.manyNamespaces = platform.manyNamespaces;
    this.kubernetes = kubernetes;
    this.gatewayUrl = pulumi.output(gatewayOrigin(platform).replace(".:", ":"));
    const publicUrl = publicUrlOf(platform);
    this.publicUrl =
      publicUrl === undefined
        ? gateway.balancedUrl.apply((balanced) => balanced ?? "")
        : pulumi.output(fillText(publicUrl));
    this.consoleUrl = pulumi.output(fillText(consoleUrlOf(platform.settings.gateway) ?? ""));
    this.adminUser = pulumi.output(adminUser);
    this.adminPassword = credentials.adminPassword;
    this.queues = pulumi.output(platform.queues.map((queue) => queue.name));
    this.edition = pulumi.output(platform.edition);
    this.portForward = portForwardCommand(cluster, platform.platformNamespace);
    this.registerOutputs({
      gatewayUrl: this.gatewayUrl,
      publicUrl: this.publicUrl,
      consoleUrl: this.consoleUrl,
      adminUser: this.adminUser,
      adminPassword: this.adminPassword,
      queues: this.queues,
      edition: this.edition,
      portForward: this.portForward,
    });
  }
}

function readerOf({ awaitRollouts = true, readSecret }: WeirPlatformArgs, cluster: ClusterArgs) {
  return readSecret ?? (awaitRollouts === true ? secretReader(cluster) : undefined);
}

/** Tests, and programs without `kubectl`, leave the check to the API server, which refuses one object after the other. */
function conflictsOf(
  { awaitRollouts = true }: WeirPlatformArgs,
  { platform, forceConflicts }: StackConfig,
  cluster: ClusterArgs,
  isOpen: (text: string) => boolean,
): ConflictCheck | undefined {
  if (awaitRollouts !== true || forceConflicts) return undefined;
  const objects = platformManifests(platform).flatMap((part) => part.objects);
  return checkConflicts(objects.filter(isReadable), cluster, isOpen);
}

/** Of a kind that every cluster has, and without values that are nobody's to read. */
function isReadable({ apiVersion, kind }: KubernetesObject): boolean {
  return kind !== "Secret" && apiVersion !== iamApiVersion && !apiVersion.startsWith("gateway.networking.k8s.io/");
}

function gateOf({ awaitRollouts = true }: WeirPlatformArgs, cluster: ClusterArgs): RolloutGate | undefined {
  if (typeof awaitRollouts === "function") return awaitRollouts;
  return awaitRollouts ? rolloutGate(cluster) : undefined;
}
