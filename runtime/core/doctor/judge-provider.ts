import type { Finding } from "../../api/schemas/doctor-report.ts";
import type { DoctorFacts } from "./doctor-facts.ts";

/** Whether replicas can be started, and what works meanwhile. */
export function judgeProvider({ provider, place }: Pick<DoctorFacts, "provider" | "place">): readonly Finding[] {
  if (provider === undefined) return [];
  const finding = { id: "provider", subject: "provider" } as const;
  if (provider.fault === undefined) return [{ ...finding, level: "ok", sentence: "It can start replicas" }];
  return [
    {
      ...finding,
      level: "problem",
      sentence: `${provider.fault}; calls of running functions go on, deploys, scaling and logs wait`,
      advice:
        place.home === "machine"
          ? "look at the container engine if functions run in containers, else at the log of Weir"
          : "look at the API server of the cluster",
    },
  ];
}
