import { expect, test } from "vitest";

import { containerResources } from "../../../../../../runtime/adapters/machine/docker/containers/container-resources.ts";

const unlimited = { memory: undefined, cpu: undefined };
const usual = { memory: "512Mi", cpu: "1" };
const mebibyte = 1_048_576;

test("a function gets the platform's limits, unless it states its own", () => {
  expect(containerResources({}, {}, usual, 2)).toEqual({
    PidsLimit: 256,
    Memory: 512 * mebibyte,
    MemorySwap: 512 * mebibyte,
    NanoCpus: 1_000_000_000,
  });
  expect(containerResources({ memory: "1Gi" }, {}, usual, 2)).toMatchObject({
    Memory: 1_024 * mebibyte,
    NanoCpus: 1_000_000_000,
  });
  expect(containerResources({ cpu: "100m" }, {}, { ...usual, memory: undefined }, 2)).toEqual({
    PidsLimit: 256,
    NanoCpus: 100_000_000,
  });
});

test("a request above the platform's limit becomes the limit", () => {
  expect(containerResources({}, { memory: "2Gi", cpu: "1500m" }, usual, 2)).toMatchObject({
    Memory: 2_048 * mebibyte,
    MemoryReservation: 2_048 * mebibyte,
    NanoCpus: 1_500_000_000,
  });
  expect(containerResources({}, { memory: "1Mi", cpu: "1m" }, usual, 2)).toMatchObject({
    Memory: 512 * mebibyte,
    NanoCpus: 1_000_000_000,
  });
});

test("without limits there is only the bound on processes", () => {
  expect(containerResources({}, {}, unlimited, 2)).toEqual({ PidsLimit: 256 });
});

test("limits and requests are converted to the units of the engine", () => {
  expect(containerResources({ memory: "128Mi", cpu: "1500m" }, { memory: "64M", cpu: "0.25" }, unlimited, 2)).toEqual({
    PidsLimit: 256,
    Memory: 134_217_728,
    MemorySwap: 134_217_728,
    MemoryReservation: 64_000_000,
    NanoCpus: 1_500_000_000,
    CpuShares: 256,
  });
});

test.each([
  ["64", 2_000_000_000],
  ["1m", 10_000_000],
])("CPU stays within what the engine accepts: %s", (cpu, nanoCpus) => {
  expect(containerResources({ cpu }, {}, unlimited, 2).NanoCpus).toBe(nanoCpus);
});

test("the smallest share is that of the engine", () => {
  expect(containerResources({}, { cpu: "1m" }, unlimited, 2).CpuShares).toBe(2);
});

test("GPUs are requested by number; other devices are refused", () => {
  expect(containerResources({ "nvidia.com/gpu": "2" }, {}, unlimited, 2).DeviceRequests).toEqual([
    { Driver: "nvidia", Count: 2, Capabilities: [["gpu"]] },
  ]);
  expect(() => containerResources({ "amd.com/gpu": "1" }, {}, unlimited, 2)).toThrow(
    'Cannot give a container "amd.com/gpu"',
  );
});
