import type { FunctionDeployment } from "../../../../api/schemas/function-deployment.ts";
import type { SystemInfo } from "../../../../api/schemas/system-info.ts";

/** Something to begin with. */
export interface SampleFunction {
  readonly title: string;
  readonly about: string;
  readonly deployment: FunctionDeployment;
}

/** Functions that need nothing but what every platform has; where containers run, the image of this release. */
export function sampleFunctions({
  provider,
  version,
}: Pick<SystemInfo, "provider" | "version">): readonly SampleFunction[] {
  const needsImage = provider.orchestration !== "process";
  const image = (name: string): string => (needsImage ? `weir-base:${version.release}` : name);
  return [
    {
      title: "Capital letters",
      about: "Replies with what it got, in capital letters",
      deployment: { service: "hello", image: image("hello"), envProcess: "tr a-z A-Z" },
    },
    {
      title: "One that fails",
      about: "Fails each call, and logs why: to see retries, dead letters and how they are redriven",
      deployment: {
        service: "fails",
        image: image("fails"),
        envProcess: "sh -c 'echo \"there is no such order\" >&2; exit 1'",
        annotations: {
          "com.service.retry.attempts": "2",
          "com.service.retry.codes": "500",
          "com.service.retry.min_wait": "1s",
        },
      },
    },
  ];
}
