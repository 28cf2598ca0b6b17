export function Connectors() {
  return null;
}
