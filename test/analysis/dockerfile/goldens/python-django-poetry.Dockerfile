FROM python:3.13 AS dependencies
WORKDIR /app
RUN --mount=type=cache,target=/root/.cache/pip \
    pip install poetry
RUN python -m venv /opt/venv
ENV VIRTUAL_ENV=/opt/venv \
    PATH="/opt/venv/bin:$PATH"
ENV POETRY_NO_INTERACTION=1
COPY pyproject.toml poetry.lock ./
RUN --mount=type=cache,target=/root/.cache/pypoetry \
    poetry install --only main --no-root

FROM dependencies AS build
COPY . ./
RUN python manage.py collectstatic --noinput

FROM python:3.13-slim
RUN apt-get update && apt-get install -y --no-install-recommends libpq5 && rm -rf /var/lib/apt/lists/*
RUN groupadd --gid 10001 app && useradd --uid 10001 --gid 10001 --create-home app && install -d -o 10001 -g 10001 /app /app/data
WORKDIR /app
ENV VIRTUAL_ENV=/opt/venv \
    PATH="/opt/venv/bin:$PATH"
ENV PYTHONUNBUFFERED=1
COPY --from=dependencies /opt/venv/ /opt/venv/
COPY --from=build --chown=10001:10001 /app/ ./
ENV PORT=8000
USER 10001:10001
EXPOSE 8000
HEALTHCHECK NONE
CMD ["/bin/sh", "-c", "exec gunicorn shop.wsgi --bind 0.0.0.0:$PORT"]
