import { flag, list, optionalText, type Values } from "./setting.ts";
import type { SettingRule } from "./setting-rules.ts";
import { textRule } from "./text-rules.ts";

/** How issuers of tokens and receivers of callbacks are reached. */
export const egressSettings = {
  egressProxy: {
    ...optionalText("egress_proxy", {
      about:
        "Proxy by which issuers of tokens and receivers of callbacks are reached, e.g. http://proxy.example.com:3128",
      rule: textRule.proxy,
    }),
    kind: "address",
  },
  egressNoProxy: list("egress_no_proxy", {
    fallback: "",
    about:
      "Hosts, domains (.example.com) and ranges that are reached without egress_proxy; loopback and the internal address of an issuer always are",
    rule: textRule.proxyExceptions,
  }),
  egressProxyNames: flag("egress_proxy_names", {
    fallback: "false",
    about:
      "Whether egress_proxy is given names instead of the addresses that were checked; then it must refuse internal addresses itself",
  }),
};

/** Exceptions need a proxy. */
export const egressRule: SettingRule<Values<typeof egressSettings>> = {
  needs: ["egressProxy", "egressNoProxy", "egressProxyNames"],
  sentence: "`egress_no_proxy` and `egress_proxy_names` need `egress_proxy`.",
  problems: ({ egressProxy, egressNoProxy, egressProxyNames }) =>
    egressProxy !== undefined
      ? []
      : [
          ...(egressNoProxy.length > 0 ? ["egress_no_proxy: expected egress_proxy with it, got none"] : []),
          ...(egressProxyNames ? ["egress_proxy_names: expected egress_proxy with it, got none"] : []),
        ],
};
