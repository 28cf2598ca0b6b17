FROM node:24-slim AS dependencies
WORKDIR /app
COPY . ./
RUN --mount=type=cache,target=/root/.npm \
    npm ci

FROM dependencies AS build
ENV NODE_ENV=production
RUN npm run build

FROM node:24-slim
RUN install -d -o 1000 -g 1000 /app
WORKDIR /app
ENV NODE_ENV=production \
    HOST=0.0.0.0
COPY --from=build --chown=1000:1000 /app/.output/ ./.output/
ENV PORT=3000
USER 1000:1000
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["node", "-e", "require('http').get({host:'127.0.0.1',port:process.env.PORT,path:process.argv[1],timeout:4000},r=>process.exit(r.statusCode<process.argv[2]?0:1)).on('timeout',()=>process.exit(1)).on('error',()=>process.exit(1))", "/", "500"]
CMD ["node", ".output/server/index.mjs"]
