// A thread that writes files while the simulation continues. Jobs are done one after the other, in their
// order, so a later job may refer to files of an earlier one.
#ifndef FLO_IO_WRITER_H
#define FLO_IO_WRITER_H

#include "flotsam/world.h"

typedef struct FloWriter FloWriter;

typedef struct FloJob {
  FloStatus (*write)(void *data, FloError *error); // on the writer's thread
  void (*release)(void *data);                     // called afterwards, also if the job was not done
  void *data;
} FloJob;

FloStatus flo_writer_start(FloWriter **writer, FloError *error);
// Takes ownership of the job, also if it fails. Blocks while too many jobs are waiting, so that a slow disk
// does not fill the memory. After a job has failed, no other is done, and its error is returned here.
FloStatus flo_writer_post(FloWriter *writer, FloJob job, FloError *error);
// Waits until all jobs are done; returns the error of the first that failed.
FloStatus flo_writer_wait(FloWriter *writer, FloError *error);
void flo_writer_stop(FloWriter *writer); // does all waiting jobs first; NULL is fine

#endif
