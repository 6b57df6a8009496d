#pragma once

// The driver's functions. Their types are written by hand: the machine needs no cuda.h.
// Those that take a stream come in two forms, one for each meaning of a null handle; `entry_points.cpp` makes them.

#include "contexts.hpp"

namespace simulated::inside {

using CUresult = int;
using CUcontext = struct CUctx_st*;

CUresult cuEventCreate(cudaEvent_t* event, unsigned int flags);
CUresult cuEventDestroy(cudaEvent_t event);
CUresult record(cudaEvent_t event, cudaStream_t stream);
CUresult record_with_flags(cudaEvent_t event, cudaStream_t stream, unsigned int flags);
CUresult cuEventQuery(cudaEvent_t event);
CUresult cuEventSynchronize(cudaEvent_t event);
CUresult cuEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop);

CUresult cuStreamCreate(cudaStream_t* stream, unsigned int flags);
CUresult cuStreamDestroy(cudaStream_t stream);
CUresult synchronize(cudaStream_t stream);
CUresult query(cudaStream_t stream);
CUresult wait(cudaStream_t stream, cudaEvent_t event, unsigned int flags);
CUresult is_capturing(cudaStream_t stream, cudaStreamCaptureStatus* status);
CUresult get_context(cudaStream_t stream, CUcontext* result);
CUresult cuThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode);

CUresult cuGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count);
CUresult cuGraphNodeGetType(cudaGraphNode_t node, int* type);
CUresult cuGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event);
CUresult cuGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph);
CUresult cuGraphExecEventRecordNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t node, cudaEvent_t event);
CUresult launch_graph(cudaGraphExec_t executable, cudaStream_t stream);
CUresult get_capture_info(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                          cudaGraph_t* graph, cudaGraphNode_t const** dependencies, std::size_t* count);

CUresult cuCtxGetCurrent(CUcontext* result);
CUresult cuCtxPushCurrent(CUcontext handle);
CUresult cuCtxPopCurrent(CUcontext* result);
CUresult cuCtxGetId(CUcontext handle, unsigned long long* id);
CUresult cuCtxGetDevice(int* device);
CUresult cuCtxSynchronize();

CUresult cuDeviceGet(int* device, int ordinal);
CUresult cuDeviceGetCount(int* count);
CUresult cuDeviceGetName(char* name, int length, int device);
CUresult cuDeviceGetAttribute(int* value, int attribute, int device);
CUresult uuid_of_part(unsigned char* uuid, int device);
CUresult uuid_of_whole(unsigned char* uuid, int device);
CUresult cuDeviceTotalMem(std::size_t* bytes, int device);
CUresult cuDevicePrimaryCtxGetState(int device, unsigned int* flags, int* active);
CUresult cuDevicePrimaryCtxRetain(CUcontext* result, int device);
CUresult cuDevicePrimaryCtxRelease(int device);

CUresult cuModuleLoadData(struct CUmod_st** result, void const* image);
CUresult cuModuleUnload(struct CUmod_st* handle);
CUresult cuModuleGetFunction(struct CUfunc_st** result, struct CUmod_st* handle, char const* name);
CUresult launch_kernel(struct CUfunc_st* function, cudaStream_t stream, void** parameters);
CUresult wait_value(cudaStream_t stream, unsigned long long address, unsigned int value, unsigned int flags);
CUresult cuMemHostRegister(void* memory, std::size_t size, unsigned int flags);
CUresult cuMemHostGetDevicePointer(unsigned long long* address, void* memory, unsigned int flags);

CUresult cuMemAlloc(unsigned long long* address, std::size_t size);
CUresult cuMemFree(unsigned long long address);
CUresult copy_within(unsigned long long to, unsigned long long from, std::size_t size, cudaStream_t stream);

CUresult cuProfilerStart();
CUresult cuProfilerStop();

}  // namespace simulated::inside
