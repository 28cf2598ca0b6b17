export { type Greeting, greet, isGreeting } from './greeting.js';
export { type Service, serve } from './serve.js';
