/** Why nothing is written for an object, and what to do instead. */
interface UnsupportedKind {
  readonly why: string;
  readonly instead?: string;
  /** Whether it stands for a secret of functions. */
  readonly isSecret: boolean;
}

/** What is said of an object whose kind Weir does not have. */
export function unsupportedKind(group: string, kind: string, name: string): UnsupportedKind {
  switch (`${group}/${kind}`) {
    case "openfaas.com/FunctionIngress":
      return {
        why: "Weir has no addresses of single functions",
        instead: "an HTTPRoute or Ingress that puts /function/NAME before the path",
        isSecret: false,
      };
    case "bitnami.com/SealedSecret":
      return { why: "only its controller can open it", instead: `weir secrets create ${name}`, isSecret: true };
    case "v1/Secret":
      return { why: "values of secrets are not copied", instead: `weir secrets create ${name}`, isSecret: true };
    case "v1/Namespace":
      return { why: "it is no function", instead: `weir namespaces create ${name}`, isSecret: false };
    default:
      return group === "service.com" || group === "iam.service.com"
        ? { why: "it is an object of Weir already", instead: "kubectl apply --server-side", isSecret: false }
        : { why: "it is no object of OpenFaaS", isSecret: false };
  }
}
