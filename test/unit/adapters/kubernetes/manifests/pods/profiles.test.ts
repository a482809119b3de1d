import { describe, expect, test } from "vitest";

import type { ProfileSpec } from "../../../../../../runtime/api/resources/profile-resource.ts";
import { mergeProfiles } from "../../../../../../runtime/adapters/kubernetes/manifests/pods/merge-profiles.ts";
import { profileFault } from "../../../../../../runtime/adapters/kubernetes/manifests/pods/profile-fault.ts";

const nodes = (...terms: readonly (readonly string[])[]): ProfileSpec => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: terms.map((keys) => ({
          matchExpressions: keys.map((key) => ({ key, operator: "Exists" })),
        })),
      },
    },
  },
});
const spread = (topologyKey: string, maxSkew: number) => ({
  maxSkew,
  topologyKey,
  whenUnsatisfiable: "ScheduleAnyway",
});

describe("mergeProfiles", () => {
  test.each<[what: string, profiles: ProfileSpec[], expected: ProfileSpec]>([
    ["none", [], {}],
    [
      "single values: the later wins",
      [
        { runtimeClassName: "a", priorityClassName: "p", dnsPolicy: "Default", strategy: { type: "Recreate" } },
        { runtimeClassName: "b", strategy: { type: "RollingUpdate" } },
      ],
      { runtimeClassName: "b", priorityClassName: "p", dnsPolicy: "Default", strategy: { type: "RollingUpdate" } },
    ],
    [
      "tolerations: all, without duplicates",
      [{ tolerations: [{ key: "a" }, { key: "b" }] }, { tolerations: [{ key: "b" }, { key: "c" }] }],
      { tolerations: [{ key: "a" }, { key: "b" }, { key: "c" }] },
    ],
    [
      "podSecurityContext: field by field",
      [{ podSecurityContext: { runAsUser: 1, fsGroup: 2 } }, { podSecurityContext: { fsGroup: 3 } }],
      { podSecurityContext: { runAsUser: 1, fsGroup: 3 } },
    ],
    [
      "resources: name by name",
      [
        { resources: { limits: { cpu: "1", memory: "1Gi" } } },
        { resources: { limits: { cpu: "2" }, requests: { cpu: "1" } } },
      ],
      { resources: { limits: { cpu: "2", memory: "1Gi" }, requests: { cpu: "1" } } },
    ],
    [
      "spread: the later wins for one topology",
      [
        { topologySpreadConstraints: [spread("a", 1), spread("b", 1)] },
        { topologySpreadConstraints: [spread("b", 2)] },
      ],
      { topologySpreadConstraints: [spread("a", 1), spread("b", 2)] },
    ],
    [
      "dnsConfig: servers and searches of both, options by name",
      [
        { dnsConfig: { nameservers: ["1"], searches: ["a"], options: [{ name: "ndots", value: "1" }] } },
        { dnsConfig: { nameservers: ["2"], options: [{ name: "ndots", value: "2" }] } },
      ],
      { dnsConfig: { nameservers: ["1", "2"], searches: ["a"], options: [{ name: "ndots", value: "2" }] } },
    ],
    [
      "requirements on nodes: both must be met, whatever their terms",
      [nodes(["a"], ["b"]), nodes(["c"], ["d"])],
      nodes(["a", "c"], ["a", "d"], ["b", "c"], ["b", "d"]),
    ],
    [
      "other affinity: all entries",
      [
        { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "a" }] } } },
        {
          affinity: {
            podAffinity: {
              preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: { topologyKey: "c" } }],
            },
            podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "b" }] },
          },
        },
      ],
      {
        affinity: {
          podAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: { topologyKey: "c" } }],
          },
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "a" }, { topologyKey: "b" }],
          },
        },
      },
    ],
  ])("%s", (_what, profiles, expected) => {
    expect(mergeProfiles(profiles)).toEqual(expected);
  });
});

describe("profileFault", () => {
  test.each<[context: object]>([
    [{}],
    [{ runAsUser: 0, runAsNonRoot: false, fsGroup: 0, supplementalGroups: [1], fsGroupChangePolicy: "Always" }],
    [
      {
        seccompProfile: { type: "Localhost", localhostProfile: "a.json" },
        appArmorProfile: { type: "RuntimeDefault" },
      },
    ],
    [{ seLinuxOptions: { type: "container_t", level: "s0:c1,c2" } }],
    [{ sysctls: [{ name: "net.ipv4.tcp_fin_timeout", value: "10" }] }],
  ])("%j is allowed", (podSecurityContext) => {
    expect(profileFault("quiet", { podSecurityContext })).toBeUndefined();
  });

  test.each<[field: string, context: object]>([
    ['seccompProfile.type "Unconfined"', { seccompProfile: { type: "Unconfined" } }],
    ['appArmorProfile.type "Unconfined"', { appArmorProfile: { type: "Unconfined" } }],
    ['seLinuxOptions.type "spc_t"', { seLinuxOptions: { type: "spc_t" } }],
    ['seLinuxOptions.user "system_u"', { seLinuxOptions: { user: "system_u" } }],
    ['seLinuxOptions.role "system_r"', { seLinuxOptions: { role: "system_r" } }],
    ['sysctls "kernel.msgmax"', { sysctls: [{ name: "kernel.msgmax", value: "1" }] }],
  ])("%s is refused", (field, podSecurityContext) => {
    expect(profileFault("loud", { podSecurityContext })).toBe(
      `Cannot use Profile "loud": podSecurityContext.${field} is below the pod security level baseline`,
    );
  });

  test("a field that is not known to be allowed is refused", () => {
    const podSecurityContext = { windowsOptions: { hostProcess: true } };
    expect(profileFault("loud", { podSecurityContext } as ProfileSpec)).toBe(
      'Cannot use Profile "loud": podSecurityContext.windowsOptions is not allowed by the pod security level baseline',
    );
  });
});
