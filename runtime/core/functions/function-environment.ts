import { annotation, tokenFileVariable } from "../../api/names.ts";
import { keyValue } from "../labels/keys.ts";
import type { DesiredFunction } from "./desired-function.ts";

/** Facts of the provider that a function gets in its environment. */
export interface FunctionSurroundings {
  /** Address at which the function reaches the gateway. */
  readonly gatewayUrl: string;
  /** Directory of its secrets. */
  readonly secretsDirectory: string;
  /** Where its workload token is, if it names a service account; undefined = functions get none here. */
  readonly tokenFile?: string | undefined;
  /** The port that the function listens on; undefined = assigned when it starts. */
  readonly port: number | undefined;
}

/** The environment of a function on every provider (contract §7); values in envVars take precedence. */
export function functionEnvironment(
  wanted: DesiredFunction,
  { gatewayUrl, secretsDirectory, tokenFile, port }: FunctionSurroundings,
): Readonly<Record<string, string>> {
  const { name, namespace, deployment } = wanted;
  const hasToken = tokenFile !== undefined && keyValue(deployment.annotations, annotation.serviceAccount) !== undefined;
  return {
    ...(deployment.envProcess === undefined ? {} : { fprocess: deployment.envProcess }),
    OPENFAAS_NAME: name,
    OPENFAAS_NAMESPACE: namespace,
    SERVICE_NAME: name,
    SERVICE_NAMESPACE: namespace,
    GATEWAY_URL: gatewayUrl,
    SERVICE_SECRETS_DIR: secretsDirectory,
    ...(hasToken ? { [tokenFileVariable]: tokenFile } : {}),
    ...(port === undefined ? {} : { PORT: String(port) }),
    ...deployment.envVars,
  };
}
