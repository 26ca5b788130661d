#include "io/writer.h"

#include "base/core.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { CAPACITY = 2 };

struct FloWriter {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  FloJob jobs[CAPACITY];
  size_t n_jobs; // waiting; the first is next
  bool is_busy, is_ending;
  FloStatus status; // of the first job that failed
  FloError error;
};

// The next job, or false at the end. Called with the lock held.
static bool take_job(FloWriter *writer, FloJob *job) {
  while (writer->n_jobs == 0 && !writer->is_ending) pthread_cond_wait(&writer->changed, &writer->lock);
  if (writer->n_jobs == 0) return false;
  *job = writer->jobs[0];
  writer->n_jobs--;
  memmove(writer->jobs, writer->jobs + 1, writer->n_jobs * sizeof writer->jobs[0]);
  writer->is_busy = true;
  pthread_cond_broadcast(&writer->changed);
  return true;
}

static void *write_jobs(void *context) {
  FloWriter *writer = context;
  FloJob job;
  pthread_mutex_lock(&writer->lock);
  while (take_job(writer, &job)) {
    FloStatus status = writer->status;
    FloError error = {0};
    pthread_mutex_unlock(&writer->lock);
    bool is_done = status == FLO_OK;
    if (is_done) status = job.write(job.data, &error);
    job.release(job.data);
    pthread_mutex_lock(&writer->lock);
    if (is_done && status != FLO_OK) writer->status = status, writer->error = error;
    writer->is_busy = false;
    pthread_cond_broadcast(&writer->changed);
  }
  pthread_mutex_unlock(&writer->lock);
  return NULL;
}

FloStatus flo_writer_start(FloWriter **out, FloError *error) {
  FloWriter *writer = calloc(1, sizeof *writer);
  if (!writer) return flo_fail(error, FLO_NO_MEMORY, "no memory for the thread that writes files");
  pthread_mutex_init(&writer->lock, NULL);
  pthread_cond_init(&writer->changed, NULL);
  int reason = pthread_create(&writer->thread, NULL, write_jobs, writer);
  if (reason == 0) return *out = writer, FLO_OK;
  pthread_cond_destroy(&writer->changed);
  pthread_mutex_destroy(&writer->lock);
  free(writer);
  return flo_fail(error, FLO_NO_MEMORY, "cannot start the thread that writes files: %s", strerror(reason));
}

// Called with the lock held.
static FloStatus tell_status(const FloWriter *writer, FloError *error) {
  if (writer->status != FLO_OK && error) *error = writer->error;
  return writer->status;
}

FloStatus flo_writer_post(FloWriter *writer, FloJob job, FloError *error) {
  pthread_mutex_lock(&writer->lock);
  while (writer->n_jobs == CAPACITY) pthread_cond_wait(&writer->changed, &writer->lock);
  writer->jobs[writer->n_jobs++] = job;
  FloStatus status = tell_status(writer, error);
  pthread_cond_broadcast(&writer->changed);
  pthread_mutex_unlock(&writer->lock);
  return status;
}

FloStatus flo_writer_wait(FloWriter *writer, FloError *error) {
  pthread_mutex_lock(&writer->lock);
  while (writer->n_jobs > 0 || writer->is_busy) pthread_cond_wait(&writer->changed, &writer->lock);
  FloStatus status = tell_status(writer, error);
  pthread_mutex_unlock(&writer->lock);
  return status;
}

void flo_writer_stop(FloWriter *writer) {
  if (!writer) return;
  pthread_mutex_lock(&writer->lock);
  writer->is_ending = true;
  pthread_cond_broadcast(&writer->changed);
  pthread_mutex_unlock(&writer->lock);
  pthread_join(writer->thread, NULL);
  pthread_cond_destroy(&writer->changed);
  pthread_mutex_destroy(&writer->lock);
  free(writer);
}
