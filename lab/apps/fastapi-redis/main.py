import os
import signal
import sys
from contextlib import asynccontextmanager

import redis.asyncio as redis
import uvicorn
from fastapi import FastAPI, HTTPException

store = redis.from_url(
    os.environ.get("REDIS_URL", "redis://localhost:6379/0"),
    socket_connect_timeout=3,
    socket_timeout=3,
)


@asynccontextmanager
async def lifespan(app: FastAPI):
    yield
    await store.aclose()


app = FastAPI(title="fastapi-redis", lifespan=lifespan)


@app.get("/")
async def index():
    return {"app": "fastapi-redis", "version": os.environ.get("APP_VERSION", "dev")}


@app.get("/healthz")
async def healthz():
    return {"status": "ok"}


@app.get("/hits")
async def hits():
    try:
        return {"hits": await store.incr("hits")}
    except redis.RedisError as error:
        raise HTTPException(503, f"Redis did not answer: {error}") from error


if __name__ == "__main__":
    # Once uvicorn has finished the requests in flight it sends itself the signal again, which would
    # end the process with 143 instead of 0.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    uvicorn.run(app, host="0.0.0.0", port=int(os.environ.get("PORT", "8000")))
