import { quote } from "../../../../core/quote.ts";
import type { ProfileSpec } from "../../../../api/resources/profile-resource.ts";

/**
 * Fields that level `baseline` of the pod security standards lets a pod set; all others are refused, unknown ones, too.
 */
const fields: ReadonlySet<string> = new Set([
  "runAsUser",
  "runAsGroup",
  "runAsNonRoot",
  "fsGroup",
  "fsGroupChangePolicy",
  "supplementalGroups",
  "supplementalGroupsPolicy",
  "seccompProfile",
  "appArmorProfile",
  "seLinuxOptions",
  "seLinuxChangePolicy",
  "sysctls",
]);
const confined: ReadonlySet<string> = new Set(["RuntimeDefault", "Localhost"]);
const seLinuxTypes: ReadonlySet<string> = new Set([
  "",
  "container_t",
  "container_init_t",
  "container_kvm_t",
  "container_engine_t",
]);
const safeSysctls: ReadonlySet<string> = new Set([
  "kernel.shm_rmid_forced",
  "net.ipv4.ip_local_port_range",
  "net.ipv4.ip_local_reserved_ports",
  "net.ipv4.ip_unprivileged_port_start",
  "net.ipv4.ping_group_range",
  "net.ipv4.tcp_fin_timeout",
  "net.ipv4.tcp_keepalive_intvl",
  "net.ipv4.tcp_keepalive_probes",
  "net.ipv4.tcp_keepalive_time",
  "net.ipv4.tcp_rmem",
  "net.ipv4.tcp_syncookies",
  "net.ipv4.tcp_wmem",
]);

/**
 * Why pods with this Profile would be below level `baseline` of the pod security standards (`security.md` §9), as a
 * sentence; undefined when they would not.
 */
export function profileFault(name: string, { podSecurityContext: context = {} }: ProfileSpec): string | undefined {
  const refused = (field: string, value: string): string =>
    `Cannot use Profile ${quote(name)}: podSecurityContext.${field} ${quote(value)} is below the pod security level baseline`;
  const unknown = Object.keys(context).find((field) => !fields.has(field));
  if (unknown !== undefined) {
    return `Cannot use Profile ${quote(name)}: podSecurityContext.${unknown} is not allowed by the pod security level baseline`;
  }
  for (const field of ["seccompProfile", "appArmorProfile"] as const) {
    const type = context[field]?.type;
    if (type !== undefined && !confined.has(type)) return refused(`${field}.type`, type);
  }
  const { type = "", user = "", role = "" } = context.seLinuxOptions ?? {};
  if (!seLinuxTypes.has(type)) return refused("seLinuxOptions.type", type);
  if (user !== "") return refused("seLinuxOptions.user", user);
  if (role !== "") return refused("seLinuxOptions.role", role);
  const unsafe = context.sysctls?.find((sysctl) => !safeSysctls.has(sysctl.name));
  return unsafe === undefined ? undefined : refused("sysctls", unsafe.name);
}
