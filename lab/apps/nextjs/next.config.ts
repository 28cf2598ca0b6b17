import type { NextConfig } from 'next';

const config: NextConfig = {
  poweredByHeader: false,
  async rewrites() {
    return [{ source: '/healthz', destination: '/api/healthz' }];
  },
};

export default config;
