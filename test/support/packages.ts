/**
 * Shell words that install Debian packages on a server of the lab. The mirror is the one real thing out there: now
 * and then it does not answer, which is no finding about us, so it is asked again, and its last words are kept.
 */
export function installing(...names: readonly string[]): string {
  const install = `apt-get install -y -qq -o Acquire::Retries=5 -o DPkg::Lock::Timeout=120 ${names.join(' ')}`;
  return `export DEBIAN_FRONTEND=noninteractive
for try in 1 2 3 4 5 6; do
  if said=$(${install} 2>&1); then break; fi
  if [ "$try" = 6 ]; then printf '%s\\n' "$said" >&2; exit 100; fi
  sleep 5; apt-get update -qq >/dev/null 2>&1 || true
done
unset said
`;
}
