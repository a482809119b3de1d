import type { FunctionDeployment } from "../../../api/schemas/function-deployment.ts";
import type { OperatedKind } from "../../../core/ports/operated-kind.ts";
import type { KubeClient } from "../client/client.ts";
import { kinds, type Kind } from "../client/kinds.ts";
import { defaultNamespaceSettings } from "../manifests/namespace-objects.ts";
import { profileFault } from "../manifests/pods/profile-fault.ts";
import { WatchedRules } from "../stores/watched-rules.ts";
import type { NamespaceSet } from "../watch/namespace-set.ts";
import { CallbackSecretCopies } from "./callback-secret-copies.ts";
import { CoreSecrets } from "./core-secrets.ts";
import { openFunctionCaches, type ProfileObject } from "./function-caches.ts";
import { ListedSecrets } from "./listed-secrets.ts";
import { OperatedAccepted } from "./operated-accepted.ts";
import { OperatedFunctions } from "./operated-functions.ts";
import { OperatedMisplaced } from "./rules/operated-misplaced.ts";
import { OperatedNamespaces } from "./operated-namespaces.ts";
import { OperatedRules } from "./rules/operated-rules.ts";
import { OperatedSecrets } from "./operated-secrets.ts";
import { ServiceAccounts } from "./service-accounts.ts";

/** Options of the operator of one platform. */
export interface OperatorOptions {
  readonly platformNamespace: string;
  /** Whether the edition has many function namespaces. */
  readonly manyNamespaces: boolean;
  /** Whether the edition has identity and access. */
  readonly iam: boolean;
  readonly gatewayUrl: string;
  /** Audience of workload tokens; undefined = functions get none. */
  readonly tokenAudience: string | undefined;
  /** CIDRs that functions may not reach directly. */
  readonly clusterRanges: readonly string[];
  /** Milliseconds a call may take at most. */
  readonly longestCall: number;
  /** Limits of functions that state none: quantities; undefined = unlimited. */
  readonly functionLimits: { readonly memory: string | undefined; readonly cpu: string | undefined };
  /** Throws for a deployment that breaks a rule or exceeds the edition. */
  readonly check: (deployment: FunctionDeployment) => void;
  /** The declared queues by name; undefined when they are not known. */
  readonly queues: ReadonlyMap<string, unknown> | undefined;
  /** Called when the API server is unavailable, or refuses something for good. */
  readonly onFailure: (err: unknown) => void;
}

/** Kinds that are read in the namespace of the platform alone, each with the types of its conditions. */
const misplacedKinds: readonly (readonly [Kind, ...conditions: string[]])[] = [
  [kinds.profile, "Accepted"],
  [kinds.jwtIssuer, "Accepted", "Enforced", "Ready"],
  [kinds.policy, "Accepted", "Enforced", "Ready"],
  [kinds.role, "Accepted", "Enforced", "Ready"],
];

/** Starts the watches of everything that an operator reconciles; the kinds are in the order to open them in. */
export function operatedKinds(client: KubeClient, namespaces: NamespaceSet, options: OperatorOptions): OperatedKind[] {
  const { platformNamespace, manyNamespaces, onFailure } = options;
  const { gatewayUrl, tokenAudience, clusterRanges, longestCall, check } = options;
  const caches = openFunctionCaches(client, namespaces, platformNamespace, onFailure);
  const accounts = new ServiceAccounts(client);
  const secrets = new CoreSecrets(client);
  const defaults = defaultNamespaceSettings(platformNamespace);
  const settings = {
    ...defaults,
    limits: withLimits(defaults.limits, options.functionLimits),
    clusterRanges,
    bindAccounts: manyNamespaces,
  };
  const accepted = { namespace: platformNamespace, onFailure };
  const watched = new WatchedRules(client, accepted);
  const rules = { watched, isEnforced: options.iam };
  return [
    new OperatedNamespaces(client, namespaces, settings, onFailure),
    new OperatedAccepted<ProfileObject>(client, {
      ...accepted,
      kind: kinds.profile,
      fault: ({ metadata, spec }) => profileFault(metadata.name ?? "", spec ?? {}),
    }),
    new OperatedRules(client, { ...rules, kind: "JwtIssuer" }),
    new OperatedRules(client, { ...rules, kind: "Policy" }),
    new OperatedRules(client, { ...rules, kind: "Role" }),
    ...misplacedKinds.map(
      ([kind, ...conditions]) =>
        new OperatedMisplaced(client, namespaces, { kind, conditions, platformNamespace, onFailure }),
    ),
    new ListedSecrets(secrets, namespaces),
    new OperatedSecrets(client, secrets, namespaces, onFailure),
    new CallbackSecretCopies(client, { functions: caches.functions, secrets, platformNamespace }),
    new OperatedFunctions(client, caches, {
      platformNamespace,
      gatewayUrl,
      tokenAudience,
      longestCall,
      defaultLimits: settings.limits,
      queues: options.queues,
      check,
      secrets,
      onFailure,
      account: (namespace, name) => accounts.of(namespace, name),
    }),
  ];
}

/** `limits` with memory and cpu as the platform's settings say. */
function withLimits(
  { memory: _memory, cpu: _cpu, ...others }: Readonly<Record<string, string>>,
  { memory, cpu }: OperatorOptions["functionLimits"],
): Readonly<Record<string, string>> {
  return { ...others, ...(memory === undefined ? {} : { memory }), ...(cpu === undefined ? {} : { cpu }) };
}
