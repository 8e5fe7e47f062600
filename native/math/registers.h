/* The registers of the instruction set that the core is compiled for. All of native/ is compiled once for each (setup.py), and
   core/base/native.py loads the fastest that the processor has; so kernels are plain C, sized by these constants. */
#ifndef SN_MATH_REGISTERS_H
#define SN_MATH_REGISTERS_H

#if defined(__AVX512F__)
#define SN_REGISTER_BYTES 64
#elif defined(__AVX__)
#define SN_REGISTER_BYTES 32
#else
#define SN_REGISTER_BYTES 16
#endif

/* Numbers that one register holds. */
#define SN_FLOATS (SN_REGISTER_BYTES / 4)
#define SN_DOUBLES (SN_REGISTER_BYTES / 8)

#endif
