export default {
  slipway: {
    input: { target: './openapi.json' },
    output: {
      target: './generated/orval/slipway.ts',
      client: 'fetch',
      mode: 'single',
      override: { mutator: { path: './orval-request.ts', name: 'request' } },
    },
  },
};
