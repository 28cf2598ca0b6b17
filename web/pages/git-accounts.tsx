export function GitAccounts() {
  return null;
}
