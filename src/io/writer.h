// A thread that writes files while the simulation goes on. Jobs are done one after the other, in the order in
// which they came: what a later one refers to is on disk when it is written.
#ifndef FLO_IO_WRITER_H
#define FLO_IO_WRITER_H

#include "flotsam/flotsam.h"

typedef struct FloWriter FloWriter;

typedef struct FloJob {
  FloStatus (*write)(void *data, FloError *error); // on the writer's thread
  void (*release)(void *data);                     // afterwards, or when it is not done at all
  void *data;
} FloJob;

FloStatus flo_writer_start(FloWriter **writer, FloError *error);
// Takes the job over, whatever happens. Waits while too many are waiting already, so that memory does not
// fill up behind a slow disk. After a job has failed no other is done, and its failure is returned here.
FloStatus flo_writer_post(FloWriter *writer, FloJob job, FloError *error);
// Until all jobs are done; the failure of the first that failed.
FloStatus flo_writer_wait(FloWriter *writer, FloError *error);
void flo_writer_stop(FloWriter *writer); // does what is waiting first; NULL is fine

#endif
