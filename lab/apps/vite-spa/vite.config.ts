import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// Only variables named VITE_ reach the page.
process.env.VITE_APP_VERSION = process.env.APP_VERSION ?? 'dev';

export default defineConfig({ plugins: [react()] });
