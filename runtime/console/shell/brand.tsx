/** Name and sign of Weir: water over a weir. */
export function Brand() {
  return (
    <>
      <svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
        <rect class="brand-ground" width="32" height="32" rx="7" />
        <path
          class="brand-lines"
          d="M6 11c3.3 0 3.3 3 6.7 3s3.3-3 6.600-3 3.400 3 6.700 3M6 18.500h20M9 18.500v5M16 18.500v5M23 18.500v5"
        />
      </svg>
      Weir
    </>
  );
}
