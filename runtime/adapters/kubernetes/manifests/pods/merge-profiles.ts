import type { ProfileSpec } from "../../../../api/resources/profile-resource.ts";
import type {
  Affinity,
  DnsConfig,
  NodeAffinity,
  NodeSelectorTerm,
  PodAffinity,
  ResourceRequirements,
} from "../object-types.ts";

/**
 * All Profiles of a function merged in their order. Of single values, and of entries with the same key, the later one
 * wins; tolerations and preferences add up, and all requirements on nodes and pods must hold.
 */
export function mergeProfiles(profiles: readonly ProfileSpec[]): ProfileSpec {
  return profiles.reduce(mergeTwo, {});
}

function mergeTwo(before: ProfileSpec, after: ProfileSpec): ProfileSpec {
  return {
    ...before,
    ...after,
    ...both("tolerations", before, after, joined),
    ...both("podSecurityContext", before, after, (a, b) => ({ ...a, ...b })),
    ...both("affinity", before, after, joinAffinity),
    ...both("topologySpreadConstraints", before, after, (a, b) => byKey(a, b, ({ topologyKey }) => topologyKey)),
    ...both("dnsConfig", before, after, joinDns),
    ...both("resources", before, after, joinResources),
  };
}

/** A field that both have, joined. */
function both<K extends keyof ProfileSpec>(
  field: K,
  before: ProfileSpec,
  after: ProfileSpec,
  join: (a: NonNullable<ProfileSpec[K]>, b: NonNullable<ProfileSpec[K]>) => ProfileSpec[K],
): Pick<ProfileSpec, K> | object {
  const a = before[field];
  const b = after[field];
  return a === undefined || b === undefined ? {} : { [field]: join(a, b) };
}

/** All of both, equal ones once. */
function joined<T>(a: readonly T[], b: readonly T[]): readonly T[] {
  return byKey(a, b, (entry) => JSON.stringify(entry));
}

function byKey<T>(a: readonly T[], b: readonly T[], key: (entry: T) => string): readonly T[] {
  return [...new Map([...a, ...b].map((entry) => [key(entry), entry])).values()];
}

function joinResources(a: ResourceRequirements, b: ResourceRequirements): ResourceRequirements {
  const limits = { ...a.limits, ...b.limits };
  const requests = { ...a.requests, ...b.requests };
  return { limits, requests };
}

function joinDns(a: DnsConfig, b: DnsConfig): DnsConfig {
  return {
    ...a,
    ...b,
    ...(a.nameservers && b.nameservers ? { nameservers: joined(a.nameservers, b.nameservers) } : {}),
    ...(a.searches && b.searches ? { searches: joined(a.searches, b.searches) } : {}),
    ...(a.options && b.options ? { options: byKey(a.options, b.options, ({ name }) => name) } : {}),
  };
}

function joinAffinity(a: Affinity, b: Affinity): Affinity {
  return {
    ...a,
    ...b,
    ...(a.nodeAffinity && b.nodeAffinity ? { nodeAffinity: joinNodes(a.nodeAffinity, b.nodeAffinity) } : {}),
    ...(a.podAffinity && b.podAffinity ? { podAffinity: joinPods(a.podAffinity, b.podAffinity) } : {}),
    ...(a.podAntiAffinity && b.podAntiAffinity
      ? { podAntiAffinity: joinPods(a.podAntiAffinity, b.podAntiAffinity) }
      : {}),
  };
}

const required = "requiredDuringSchedulingIgnoredDuringExecution";
const preferred = "preferredDuringSchedulingIgnoredDuringExecution";

function joinPods(a: PodAffinity, b: PodAffinity): PodAffinity {
  return {
    ...a,
    ...b,
    ...(a[required] && b[required] ? { [required]: joined(a[required], b[required]) } : {}),
    ...(a[preferred] && b[preferred] ? { [preferred]: joined(a[preferred], b[preferred]) } : {}),
  };
}

/** The terms of a list are alternatives, so two lists become all pairs of their terms. */
function joinNodes(a: NodeAffinity, b: NodeAffinity): NodeAffinity {
  const [ours, theirs] = [a[required]?.nodeSelectorTerms, b[required]?.nodeSelectorTerms];
  return {
    ...a,
    ...b,
    ...(ours && theirs
      ? { [required]: { nodeSelectorTerms: ours.flatMap((one) => theirs.map((other) => joinTerms(one, other))) } }
      : {}),
    ...(a[preferred] && b[preferred] ? { [preferred]: joined(a[preferred], b[preferred]) } : {}),
  };
}

function joinTerms(a: NodeSelectorTerm, b: NodeSelectorTerm): NodeSelectorTerm {
  const matchExpressions = joined(a.matchExpressions ?? [], b.matchExpressions ?? []);
  const matchFields = joined(a.matchFields ?? [], b.matchFields ?? []);
  return {
    ...(matchExpressions.length === 0 ? {} : { matchExpressions }),
    ...(matchFields.length === 0 ? {} : { matchFields }),
  };
}
