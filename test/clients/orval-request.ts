/** How the client of orval sends: it leaves address, token and reading of the answer to whoever uses it. */
const { SLIPWAY_URL: url = '', SLIPWAY_TOKEN: token = '' } = process.env;

export async function request<T>(path: string, init: RequestInit = {}): Promise<T> {
  const headers = new Headers(init.headers);
  headers.set('authorization', `Bearer ${token}`);
  const answer = await fetch(`${url}${path}`, { ...init, headers });
  const text = await answer.text();
  const data: unknown = text === '' ? undefined : JSON.parse(text);
  return { data, status: answer.status, headers: answer.headers } as T;
}
